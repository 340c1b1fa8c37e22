/* SPDX-License-Identifier: MIT */
#include "sql/record.h"

#include <string.h>

int record_start(struct record *record, char *text, size_t len)
{
	if (len < 2 || text[0] != '(' || text[len - 1] != ')')
		return -1;
	*record = (struct record){ .at = text + 1, .end = text + len - 1 };
	text[len - 1] = '\0';
	return 0;
}

/* From behind the quote on, in place; returns where it goes on, NULL when no quote ends it. */
static char *unquote(char *s, const char *end, struct record_value *ret)
{
	char *out = s;

	ret->s = s;
	for (;;) {
		size_t run = strcspn(s, "\"\\");

		if (out != s)
			memmove(out, s, run);
		out += run;
		s += run;
		if (s >= end)
			return NULL;
		if (*s == '"' && s[1] != '"')
			break;
		/* Doubled, or behind a backslash: as it is. */
		if (++s >= end)
			return NULL;
		*out++ = *s++;
	}
	ret->len = (size_t)(out - ret->s);
	*out = '\0';
	return s + 1;
}

static char *plain(char *s, const char *end, struct record_value *ret)
{
	char *border = memchr(s, ',', (size_t)(end - s));
	char *after = border != NULL ? border : s + (end - s);

	ret->len = (size_t)(after - s);
	ret->s = ret->len > 0 ? s : NULL;
	return after;
}

int record_next(struct record *record, struct record_value *ret)
{
	char *s = record->at;
	char *after;

	if (s == NULL)
		return 0;
	after = *s == '"' ? unquote(s + 1, record->end, ret) : plain(s, record->end, ret);
	if (after == NULL || (after != record->end && *after != ','))
		return -1;
	record->at = after == record->end ? NULL : after + 1;
	*after = '\0';
	return 1;
}
