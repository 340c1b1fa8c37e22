/* SPDX-License-Identifier: MIT */
#include "text/told.h"

#include <string.h>

#include "text/redact.h"

static char plain_of(char escaped)
{
	switch (escaped) {
	case 't':
		return '\t';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 's':
		return ' ';
	default:
		return escaped;
	}
}

void told_field(struct buf *out, const char *field, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = field[i];

		if (c == '\\' && i + 1 < len)
			c = plain_of(field[++i]);
		buf_put(out, &c, 1);
	}
}

const char *told_name(struct buf *out, const char *line, const char *end, bool *ret_gone)
{
	const char *blank;

	*ret_gone = line < end && line[0] == '-';
	line += *ret_gone ? 1 : 0;
	blank = memchr(line, ' ', (size_t)(end - line));
	told_field(out, line, (size_t)((blank != NULL ? blank : end) - line));
	return blank != NULL ? blank + 1 : end;
}

char *told_marks(const char *names)
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
