/* SPDX-License-Identifier: MIT */
/*
 * redact_names.c - escapes marks of secrets within lines of names. A mark contains a blank, and a
 * blank ends a name in these lines.
 */
#include <string.h>

#include "base/buf.h"
#include "redact/redact.h"

char *redact_escape_names(const char *names)
{
	const size_t mark_len = strlen(REDACT_MARK);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	bool in_name = true;

	while (*names != '\0') {
		if (strncmp(names, REDACT_MARK, mark_len) == 0) {
			buf_put(&out, names, mark_len - 1);
			buf_puts(&out, in_name ? "\\s" : "_");
			names += mark_len;
			continue;
		}
		in_name = *names == '\n' || (in_name && *names != ' ');
		buf_put_char(&out, *names++);
	}
	return buf_steal(&out);
}
