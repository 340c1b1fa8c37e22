/* SPDX-License-Identifier: MIT */
/*
 * expect.c - matches on the plain text of a terminal: escape sequences, carriage returns, BEL and
 * NUL are dropped. It keeps as much text as may still become the beginning of a match.
 */
#include "runner/expect.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/escape.h"

struct expect {
	struct escape escape;
	struct buf seen; /* plain text that may still become part of a match */
	size_t len;
	char text[];
};

struct expect *expect_new(const char *text, size_t len)
{
	struct expect *expect = xcalloc(1, sizeof(*expect) + len + 1);

	buf_init(&expect->seen, BUF_UNBOUNDED);
	expect->len = len;
	memcpy(expect->text, text, len);
	return expect;
}

void expect_free(struct expect *expect)
{
	if (expect == NULL)
		return;
	buf_release(&expect->seen);
	free(expect);
}

bool expect_feed(struct expect *expect, const char *data, size_t len)
{
	bool found;

	for (size_t i = 0; i < len; i++) {
		bool text = escape_feed(&expect->escape, (unsigned char)data[i]) == ESCAPE_TEXT;

		if (text && data[i] != '\r' && data[i] != '\a' && data[i] != '\0')
			buf_put(&expect->seen, &data[i], 1);
	}
	found = expect->seen.len >= expect->len &&
		memmem(expect->seen.data, expect->seen.len, expect->text, expect->len) != NULL;
	if (expect->seen.len >= expect->len)
		buf_consume(&expect->seen, expect->seen.len - expect->len + 1);
	return found;
}
