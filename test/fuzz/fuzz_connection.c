/* SPDX-License-Identifier: MIT */
/* layers: sql */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sql/connection_string.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A string without a password, and a password: quoted, it is one value and nothing beside it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size);
	char *newline = strchr(text, '\n');
	const char *password = newline != NULL ? newline + 1 : NULL;
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *found = NULL;
	cleanup_free char *driver = NULL;
	cleanup_free char *named = NULL;
	struct err err;

	if (newline != NULL)
		*newline = '\0';
	if (connection_complete(text, password, &whole, &err) < 0 || password == NULL ||
	    strcasestr(text, "pwd") != NULL || strcasestr(text, "password") != NULL)
		return 0;
	found = connection_get(buf_str(&whole), "PWD");
	if (found == NULL || !str_eq(found, password))
		abort();
	driver = connection_get(buf_str(&whole), "Driver");
	named = connection_get(text, "Driver");
	if ((driver == NULL) != (named == NULL) || (named != NULL && !str_eq(driver, named)))
		abort();
	return 0;
}
