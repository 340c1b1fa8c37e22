/* SPDX-License-Identifier: MIT */
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>

json_t *json_parse(const char *text, size_t len, struct err *err)
{
	json_error_t why;
	json_t *value = json_loadb(text, len,
				   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);

	if (value == NULL)
		(void)err_set(err, ERR_INVALID, "%s (at byte %d)", why.text, why.position);
	return value;
}

json_t *json_parse_const(const char *text)
{
	struct err err;
	json_t *value = json_parse(text, strlen(text), &err);

	if (value == NULL) {
		(void)fprintf(stderr, "ptycell: bad JSON in the program: %s: %s\n", err.msg, text);
		abort();
	}
	return value;
}
