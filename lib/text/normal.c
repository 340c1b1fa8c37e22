/* SPDX-License-Identifier: MIT */
/*
 * normal.c - NFC by libunistring. Most Linux file systems treat composed and decomposed names as
 * different, so callers that search for a name compare both in this form.
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
