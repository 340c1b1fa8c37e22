/* SPDX-License-Identifier: MIT */
/*
 * redact_fill.c - puts values back in place of marks. A mark does not say how its value was
 * encoded: only a caller that compares the result with the text before knows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "redact/redact_internal.h"

/* Returns the value of this name, or NULL. */
static const char *value_of(const struct redact *redact, const char *name, size_t len)
{
	for (size_t i = 0; redact != NULL && i < redact->count; i++)
		if (strlen(redact->names[i]) == len && memcmp(redact->names[i], name, len) == 0)
			return redact->values[i];
	return NULL;
}

/* Returns the length of the name at `text`, or 0 if there is none. */
static size_t name_len(const char *text, size_t len)
{
	const char *end = memchr(text, ']', len);

	return end != NULL ? (size_t)(end - text) : 0;
}

char *redact_fill(const struct redact *redact, const char *text, size_t len, struct buf *out)
{
	const size_t mark = strlen(REDACT_MARK);
	size_t at = 0;

	while (at < len) {
		const char *found = memmem(text + at, len - at, REDACT_MARK, mark);
		size_t from = found != NULL ? (size_t)(found - text) : len;
		size_t name = found != NULL ? name_len(found + mark, len - from - mark) : 0;
		const char *value;

		buf_put(out, text + at, from - at);
		at = from;
		if (found == NULL)
			break;
		value = value_of(redact, found + mark, name);
		if (value == NULL)
			return xmemdup(found + mark, name);
		buf_puts(out, value);
		at += mark + name + 1;
	}
	return NULL;
}
