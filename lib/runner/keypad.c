/* SPDX-License-Identifier: MIT */
/* keypad.c - looks for the mode by itself: other modes are set by sequences of their own. */
#include "runner/keypad.h"

#include <string.h>

static const char request[] = "\033[?1"; /* and h or l */

void keypad_feed(struct keypad *keypad, const char *data, size_t len)
{
	const char *end = data + len;

	while (data < end) {
		char c = *data++;

		if (keypad->matched == sizeof(request) - 1 && (c == 'h' || c == 'l'))
			keypad->application = c == 'h';
		if (keypad->matched < sizeof(request) - 1 && c == request[keypad->matched])
			keypad->matched++;
		else
			keypad->matched = c == request[0];
		if (keypad->matched == 0) {
			data = memchr(data, request[0], (size_t)(end - data));
			if (data == NULL)
				return;
		}
	}
}

void keypad_convert(const struct keypad *keypad, char *key, size_t len)
{
	if (keypad->application && len == 3 && memcmp(key, "\033[", 2) == 0 &&
	    strchr("ABCDHF", key[2]) != NULL)
		key[1] = 'O';
}
