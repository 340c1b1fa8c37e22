/* SPDX-License-Identifier: MIT */
#include "workspace/percent.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static const char digits[] = "0123456789ABCDEF";

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("-._~/ ", c) != NULL);
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

static int digit_value(char c)
{
	const char *at = c == '\0' ? NULL : strchr(digits, c);

	return at == NULL ? -1 : (int)(at - digits);
}

char *percent_decode(const char *text)
{
	cleanup_free char *bytes = xcalloc(strlen(text) + 1, 1);
	char *out = bytes;

	while (*text != '\0') {
		int high;
		int low;

		if (is_plain(*text)) {
			*out++ = *text++;
			continue;
		}
		if (*text != '%')
			return NULL;
		high = digit_value(text[1]);
		low = high < 0 ? -1 : digit_value(text[2]);
		if (low < 0 || (high == 0 && low == 0))
			return NULL;
		*out++ = (char)(high << 4 | low);
		text += 3;
	}
	return mem_steal(&bytes);
}
