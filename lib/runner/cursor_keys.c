/* SPDX-License-Identifier: MIT */
/* cursor_keys.c - looks for the mode by itself: other modes are set by sequences of their own. */
#include "runner/cursor_keys.h"

#include <string.h>

static const char request[] = "\033[?1"; /* and h or l */

void cursor_keys_feed(struct cursor_keys *keys, const char *data, size_t len)
{
	const char *end = data + len;

	while (data < end) {
		char c = *data++;

		if (keys->matched == sizeof(request) - 1 && (c == 'h' || c == 'l'))
			keys->application = c == 'h';
		if (keys->matched < sizeof(request) - 1 && c == request[keys->matched])
			keys->matched++;
		else
			keys->matched = c == request[0];
		if (keys->matched == 0) {
			data = memchr(data, request[0], (size_t)(end - data));
			if (data == NULL)
				return;
		}
	}
}

void cursor_keys_convert(const struct cursor_keys *keys, char *key, size_t len)
{
	if (keys->application && len == 3 && memcmp(key, "\033[", 2) == 0 &&
	    strchr("ABCDHF", key[2]) != NULL)
		key[1] = 'O';
}
