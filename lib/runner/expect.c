/* SPDX-License-Identifier: MIT */
#include "runner/expect.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/escape.h"

struct expect {
	struct escape escape;
	struct buf seen; /* plain text that may still become part of it */
	size_t len;
	char text[];
};

struct expect *expect_new(const char *text, size_t len)
{
	struct expect *until = xcalloc(1, sizeof(*until) + len + 1);

	buf_init(&until->seen, BUF_UNBOUNDED);
	until->len = len;
	memcpy(until->text, text, len);
	return until;
}

void expect_free(struct expect *until)
{
	if (until == NULL)
		return;
	buf_release(&until->seen);
	free(until);
}

bool expect_feed(struct expect *until, const char *data, size_t len)
{
	bool found;

	for (size_t i = 0; i < len; i++) {
		bool text = escape_feed(&until->escape, (unsigned char)data[i]) == ESCAPE_TEXT;

		if (text && data[i] != '\r' && data[i] != '\a' && data[i] != '\0')
			buf_put(&until->seen, &data[i], 1);
	}
	found = until->seen.len >= until->len &&
		memmem(until->seen.data, until->seen.len, until->text, until->len) != NULL;
	if (until->seen.len >= until->len)
		buf_consume(&until->seen, until->seen.len - until->len + 1);
	return found;
}
