/* SPDX-License-Identifier: MIT */
/*
 * marks.c - the list of marks, sorted by position. A position has at most one mark, because code
 * may be read twice: double parentheses that were no arithmetic are read again as groups.
 */
#include <string.h>

#include "runtime/bash/lexer.h"

/* Returns the index of the first mark at `at` or after it. Marks are sorted by their position. */
static size_t find_mark(const struct marks *marks, const char *at)
{
	size_t i = marks->count;

	while (i > 0 && marks->list[i - 1].at >= at)
		i--;
	return i;
}

/* Returns the one mark at `at`, or NULL. */
static struct mark *mark_at(struct marks *marks, const char *at)
{
	size_t i = find_mark(marks, at);

	return i < marks->count && marks->list[i].at == at ? &marks->list[i] : NULL;
}

void bash_add_mark(struct marks *marks, const char *at, const char *word)
{
	size_t i = find_mark(marks, at);

	if (marks->count == LEXER_MARKS_MAX || mark_at(marks, at) != NULL)
		return;
	memmove(&marks->list[i + 1], &marks->list[i], (marks->count - i) * sizeof(struct mark));
	marks->list[i] = (struct mark){ at, word };
	marks->count++;
}

void bash_remove_mark(struct marks *marks, const char *at)
{
	struct mark *mark = mark_at(marks, at);

	if (mark == NULL)
		return;
	marks->count--;
	memmove(mark, mark + 1, (size_t)(&marks->list[marks->count] - mark) * sizeof(struct mark));
}

void bash_rename_mark(struct marks *marks, const char *at, const char *word)
{
	struct mark *mark = mark_at(marks, at);

	if (mark != NULL)
		mark->word = word;
}

void bash_put_marks(const struct marks *marks, const char *code, size_t len, struct buf *out)
{
	for (size_t i = 0; i < marks->count; i++) {
		buf_put(out, code, (size_t)(marks->list[i].at - code));
		buf_puts(out, marks->list[i].word);
		len -= (size_t)(marks->list[i].at - code);
		code = marks->list[i].at;
	}
	buf_put(out, code, len);
}
