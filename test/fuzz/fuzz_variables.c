/* SPDX-License-Identifier: MIT */
/* layers: tools json */
/* Whatever a driver says its names are, the table is bounded, clean and countable. */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "answer/variables.h"
#include "text/sanitize.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t max = size > 0 ? data[0] % 8 : 0;
	size_t left_out = 0;
	json_t *told = variables_parse("python", (const char *)data, size, max, NULL, &left_out);
	size_t index;
	json_t *variable;

	assert(json_array_size(told) <= max && json_array_size(told) + left_out <= size + 1);
	json_array_foreach (told, index, variable) {
		const char *key;
		json_t *value;

		assert(json_object_size(variable) <= 6);
		json_object_foreach (variable, key, value) {
			const char *text = json_string_value(value);

			assert(strlen(text) == json_string_length(value));
			assert(strlen(text) <= (size_t)SANITIZE_QUOTE_MAX * 4 + 16);
			assert(utf8_valid(text, strlen(text)) && strpbrk(text, "\n\r\033") == NULL);
		}
	}
	json_decref(told);
	return 0;
}
