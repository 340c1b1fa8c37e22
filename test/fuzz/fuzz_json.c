/* SPDX-License-Identifier: MIT */
/* layers: json */
/* What our writer makes of any text, and of any value that can be read, reads back as the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const json_t *value)
{
	char *ours = json_write_text(value);

	struct err err;
	cleanup_json json_t *back = json_parse(ours, strlen(ours), &err);

	assert(json_equal(back, value));
	free(ours);
}

/* Text that needs no mending is what it is. */
static void check_mended(const char *text, size_t len, const json_t *value)
{
	cleanup_json json_t *same = json_parse_mended(text, len);

	assert(json_equal(same, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json json_t *text = json_make_text((const char *)data, size);
	cleanup_json json_t *object = json_object();
	cleanup_json json_t *value = NULL;
	cleanup_json json_t *head = json_parse_head((const char *)data, size);
	struct err err;

	if (head != NULL)
		assert(json_is_object(head));
	check(text);
	json_put(object, "key", json_incref(text));
	check(object);
	value = json_parse((const char *)data, size, &err);
	if (value == NULL)
		value = json_parse_mended((const char *)data, size);
	else
		check_mended((const char *)data, size, value);
	if (value != NULL)
		check(value);
	return 0;
}
