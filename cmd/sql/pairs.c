/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "sql/tokens.h"

struct query {
	struct tokens tokens;
	struct sheet *const *sheets;
	size_t count;
};

static bool is_name(const struct query *q, size_t at)
{
	enum token_kind kind = tokens_at(&q->tokens, at)->kind;

	return kind == TOKEN_WORD || kind == TOKEN_QUOTED;
}

/* Behind the item of a list at `at`, which ends before `end`. */
static size_t behind_item(const struct query *q, size_t at, size_t end)
{
	while (at < end && !tokens_is_char(&q->tokens, at, ',') &&
	       !tokens_is(&q->tokens, at, "FROM"))
		at = tokens_is_char(&q->tokens, at, '(') ? q->tokens.behind[at] : at + 1;
	return at;
}

/* Whether all columns of the name are texts, and there is one. */
static bool is_text(const struct query *q, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < q->count; i++)
		for (size_t c = 0; c < q->sheets[i]->count; c++) {
			const struct column *column = &q->sheets[i]->columns[c];

			if (strcasecmp(column->name, name) != 0)
				continue;
			if (column->verdict.type != INFER_TYPE_TEXT)
				return false;
			found = true;
		}
	return found;
}

/* Whether the item is a column of texts: name, t.name, max(name). */
static bool is_text_item(const struct query *q, size_t at, size_t end)
{
	static const char *const calls[] = { "MIN", "MAX", NULL };
	cleanup_free char *name = NULL;

	if (tokens_is_any(&q->tokens, at, calls) && tokens_is_char(&q->tokens, at + 1, '(') &&
	    q->tokens.behind[at + 1] == end) {
		at += 2;
		end--;
	}
	if (tokens_is_char(&q->tokens, at + 1, '.'))
		at += 2;
	if (at + 1 != end || !is_name(q, at))
		return false;
	name = token_name(&q->tokens.lexer, tokens_at(&q->tokens, at));
	return is_text(q, name);
}

/* NULL stands for all columns. False: there is none. */
static bool mark(const struct query *q, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < q->count; i++)
		for (size_t c = 0; c < q->sheets[i]->count; c++) {
			struct column *column = &q->sheets[i]->columns[c];

			if (name != NULL && strcasecmp(column->name, name) != 0)
				continue;
			column->paired = found = true;
		}
	return found;
}

/* All that the item may mean: a name that no column has is perhaps another one for any of them. */
static void mark_item(const struct query *q, size_t at, size_t end)
{
	bool found = false;

	for (; at < end; at++) {
		cleanup_free char *name = NULL;

		if (!is_name(q, at))
			continue;
		name = token_name(&q->tokens.lexer, tokens_at(&q->tokens, at));
		found = mark(q, name) || found;
	}
	if (!found)
		(void)mark(q, NULL);
}

/* The lists from `left`, which ends before `end`, and from `right`. */
static void mark_pairs(const struct query *q, size_t left, size_t end, size_t right)
{
	if (tokens_is(&q->tokens, right, "DISTINCT") || tokens_is(&q->tokens, right, "ALL"))
		right++;
	while (left < end) {
		size_t left_end = behind_item(q, left, end);
		size_t right_end = behind_item(q, right, q->tokens.count);

		if (!is_text_item(q, right, right_end))
			mark_item(q, left, left_end);
		left = left_end + 1;
		right = right_end + 1;
	}
}

void pairs_mark(struct sheet *const *sheets, size_t count, const char *sql, size_t len)
{
	struct query q = { .sheets = sheets, .count = count };
	struct err err;

	token_start(&q.tokens.lexer, SQL_SQLITE, sql, len);
	if (tokens_read(&q.tokens, &err) == 0)
		for (size_t i = 0; i < q.tokens.count; i++) {
			size_t behind = q.tokens.behind[i];

			if (tokens_is_char(&q.tokens, i, '(') &&
			    tokens_is(&q.tokens, behind, "IN") &&
			    tokens_is_char(&q.tokens, behind + 1, '(') &&
			    behind_item(&q, i + 1, behind - 1) < behind - 1)
				mark_pairs(&q, i + 1, behind - 1, behind + 3);
		}
	tokens_release(&q.tokens);
}
