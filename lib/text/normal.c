/* SPDX-License-Identifier: MIT */
/*
 * normal.c - NFC by libunistring. It is used for comparing, never for names that are opened: Linux
 * file systems treat the two forms as different files.
 */
#include "text/normal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uninorm.h>
#include <unistr.h>

#include "base/mem.h"

char *normal_compose(const char *text)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t len = strlen(text);
	bool formed = u8_check(bytes, len) == NULL;
	uint8_t *normal = formed ? u8_normalize(UNINORM_NFC, bytes, len, NULL, &len) : NULL;
	char *out = normal != NULL ? xmemdup(normal, len) : xstrdup(text);

	free(normal);
	return out;
}
