/* SPDX-License-Identifier: MIT */
/*
 * percent.c - encodes and decodes names as bytes. Only uppercase digits are written, so that equal
 * names have equal URIs.
 */
#include "text/percent.h"

#include <stdbool.h>
#include <string.h>

#include "base/chars.h"
#include "base/mem.h"

static const char digits[] = "0123456789ABCDEF";

static bool is_plain(char c)
{
	return char_is_letter(c) || char_is_digit(c) || (c != '\0' && strchr("-._~/", c) != NULL);
}

char *percent_encode(const char *bytes)
{
	char *text = xcalloc(strlen(bytes) * 3 + 1, 1);
	char *out = text;

	for (; *bytes != '\0'; bytes++) {
		unsigned char byte = (unsigned char)*bytes;

		if (is_plain(*bytes)) {
			*out++ = *bytes;
			continue;
		}
		*out++ = '%';
		*out++ = digits[byte >> 4];
		*out++ = digits[byte & 15];
	}
	return text;
}

char *percent_decode(const char *text, size_t len)
{
	cleanup_free char *bytes = xcalloc(len + 1, 1);
	char *out = bytes;

	for (size_t i = 0; i < len; i++) {
		int high = text[i] == '%' && len - i > 2 ? char_hex(text[i + 1]) : -1;
		int low = high < 0 ? -1 : char_hex(text[i + 2]);

		if (low < 0) {
			*out++ = text[i];
			continue;
		}
		if (high == 0 && low == 0)
			return NULL;
		*out++ = (char)(high << 4 | low);
		i += 2;
	}
	return mem_steal(&bytes);
}
