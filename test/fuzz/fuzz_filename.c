/* SPDX-License-Identifier: MIT */
/* layers: net text */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/filename.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(char *name_own)
{
	size_t len;

	if (name_own == NULL)
		return;
	len = strlen(name_own);
	if (len == 0 || len > FILENAME_MAX_LEN || !utf8_valid(name_own, len) ||
	    strpbrk(name_own, "/\\:*?\"<>|\n\r\t\033\177") != NULL || name_own[0] == '.' ||
	    name_own[len - 1] == '.')
		abort();
	free(name_own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size);

	check(filename_from_disposition((const char *)data, size));
	check(filename_make_safe((const char *)data, size));
	check(filename_from_path(text));
	return 0;
}
