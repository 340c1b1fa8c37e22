/* SPDX-License-Identifier: MIT */
/*
 * name_lines.c - undoes escapes in names: \s for a blank, \t, \n, \r and \\. Names may be any text
 * in R and JavaScript, and blanks and line breaks separate them in these lines.
 */
#include "text/name_lines.h"

#include <string.h>

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

void name_lines_field(struct buf *out, const char *field, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = field[i];

		if (c == '\\' && i + 1 < len)
			c = plain_of(field[++i]);
		buf_put(out, &c, 1);
	}
}

const char *name_lines_name(struct buf *out, const char *line, const char *end, bool *ret_gone)
{
	const char *blank;

	*ret_gone = line < end && line[0] == '-';
	line += *ret_gone ? 1 : 0;
	blank = memchr(line, ' ', (size_t)(end - line));
	name_lines_field(out, line, (size_t)((blank != NULL ? blank : end) - line));
	return blank != NULL ? blank + 1 : end;
}
