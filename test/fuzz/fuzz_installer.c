/* SPDX-License-Identifier: MIT */
/* layers: install json */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "install/indexes.h"
#include "install/progress.h"
#include "install/response.h"
#include "json/make.h"
#include "net/host_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const json_t *row, const char *key, bool must)
{
	const json_t *text = json_object_get(row, key);

	assert(text != NULL || !must);
	assert(text == NULL ||
	       (json_is_string(text) && json_string_length(text) <= RESPONSE_TEXT_MAX));
}

static void check_rows(const json_t *told)
{
	cleanup_json json_t *rows = response_rows(told);
	size_t n;
	json_t *row;

	assert(json_array_size(rows) <= RESPONSE_ROWS_MAX);
	json_array_foreach (rows, n, row) {
		const json_t *modules = json_object_get(row, "modules");
		size_t m;
		json_t *module;

		check_text(row, "name", true);
		check_text(row, "version", true);
		check_text(row, "file", false);
		assert(json_array_size(modules) <= RESPONSE_MODULES_MAX);
		json_array_foreach (modules, m, module)
			assert(json_is_string(module));
		assert(json_object_size(row) <= 4);
	}
}

/* Where it leads to is a host with a port, whatever is told. */
static void check_default(const json_t *told)
{
	cleanup_indexes struct indexes indexes = { .urls = json_array(), .wants_default = true };
	struct host_list *hosts;
	struct err err;

	if (indexes_take_default(&indexes, told, &err) < 0)
		return;
	assert(json_array_size(indexes.urls) == 1 && indexes.folder_count == 0);
	hosts = indexes.hosts != NULL ? host_list_parse(indexes.hosts, &err) : NULL;
	assert(indexes.hosts == NULL || hosts != NULL);
	host_list_free(hosts);
}

/* What an installer answers, from its bytes to what sessions and the proxy get of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	cleanup_json json_t *answer = response_read((const char *)data, size, &err);
	struct progress progress = { .done = 0 };

	if (progress_read((const char *)data, size, &progress))
		assert(strlen(progress.name) <= PROGRESS_NAME_MAX);
	if (answer == NULL)
		return 0;
	check_rows(json_object_get(answer, "packages"));
	check_rows(json_object_get(answer, "present"));
	check_default(answer);
	return 0;
}
