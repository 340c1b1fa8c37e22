/* SPDX-License-Identifier: MIT */
/* layers: install json */
#include <assert.h>
#include <stdint.h>

#include "install/pipconf.h"
#include "json/make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the file holds, two sections at most come of it, of the six options there are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json json_t *sections = json_object();
	const char *name;
	json_t *section;

	pipconf_parse(sections, (const char *)data, size);
	assert(json_object_size(sections) <= 2);
	json_object_foreach (sections, name, section) {
		const char *option;
		json_t *value;

		assert(json_object_size(section) <= 6);
		json_object_foreach (section, option, value)
			assert(json_is_string(value));
	}
	return 0;
}
