/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - marks the columns of row comparisons. The left list of each row IN is compared with the
 * items of the SELECT at its right. A column is marked when the value beside it may be something
 * else than a column of texts. Where names are ambiguous, because the query gives them to something
 * else, all columns are marked: a mark only costs speed.
 */
#include "pairs.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "sql/tokens.h"

struct query {
	struct tokens tokens;
	struct sheet *const *sheets;
	size_t count;
	bool compound; /* it has a UNION or the like: a column may have several sources */
	bool all;      /* a marked name may mean any column */
};

static bool is_name(const struct query *q, size_t at)
{
	enum token_kind kind = tokens_at(&q->tokens, at)->kind;

	return kind == TOKEN_WORD || kind == TOKEN_QUOTED;
}

/* ---- names that the query defines ---- */

/* Returns true for v AS w and v w: the end of a value is followed by a name for it. */
static bool is_alias(const struct query *q, size_t at)
{
	static const char *const before[] = {
		"SELECT",  "DISTINCT", "ALL",    "FROM",      "JOIN",  "WHERE", "ON",     "AND",
		"OR",      "NOT",      "BY",     "HAVING",    "CASE",  "WHEN",  "THEN",   "ELSE",
		"BETWEEN", "LIKE",     "GLOB",   "REGEXP",    "IN",    "IS",    "LIMIT",  "OFFSET",
		"USING",   "ESCAPE",   "FILTER", "RETURNING", "MATCH", "UNION", "EXCEPT", NULL
	};
	enum token_kind kind;

	if (at == 0)
		return false;
	kind = tokens_at(&q->tokens, at - 1)->kind;
	return kind == TOKEN_NUMBER || kind == TOKEN_STRING || kind == TOKEN_PARAM ||
	       tokens_is_char(&q->tokens, at - 1, ')') ||
	       (is_name(q, at - 1) && !tokens_is_any(&q->tokens, at - 1, before));
}

static void mark_made(const struct query *q, size_t at)
{
	cleanup_free char *name = token_name(&q->tokens.lexer, tokens_at(&q->tokens, at));

	for (size_t i = 0; i < q->count; i++)
		for (size_t c = 0; c < q->sheets[i]->count; c++)
			if (strcasecmp(q->sheets[i]->columns[c].name, name) == 0)
				q->sheets[i]->columns[c].made = true;
}

/* Marks the names in the brackets at `open` of WITH t(a, b) AS (SELECT ...). */
static void mark_list(const struct query *q, size_t open)
{
	size_t behind = q->tokens.behind[open];

	if (tokens_is(&q->tokens, behind, "AS") &&
	    (tokens_is_char(&q->tokens, behind + 1, '(') ||
	     tokens_is(&q->tokens, behind + 1, "NOT") ||
	     tokens_is(&q->tokens, behind + 1, "MATERIALIZED")))
		for (size_t at = open + 1; at < behind; at++)
			if (is_name(q, at))
				mark_made(q, at);
}

static void mark_names(struct query *q)
{
	static const char *const compounds[] = { "UNION", "EXCEPT", "INTERSECT", NULL };

	for (size_t at = 0; at < q->tokens.count; at++) {
		q->compound = q->compound || tokens_is_any(&q->tokens, at, compounds);
		if (tokens_is_char(&q->tokens, at, '('))
			mark_list(q, at);
		else if (is_name(q, at) && is_alias(q, at))
			mark_made(q, at);
	}
}

/* ---- lists ---- */

/* Returns the token behind the item of a list at `at`, which ends before `end`. */
static size_t behind_item(const struct query *q, size_t at, size_t end)
{
	while (at < end && !tokens_is_char(&q->tokens, at, ',') &&
	       !tokens_is(&q->tokens, at, "FROM"))
		at = tokens_is_char(&q->tokens, at, '(') ? q->tokens.behind[at] : at + 1;
	return at;
}

/* Returns true when the name can only mean columns of texts. */
static bool is_text(const struct query *q, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < q->count; i++)
		for (size_t c = 0; c < q->sheets[i]->count; c++) {
			const struct column *column = &q->sheets[i]->columns[c];

			if (strcasecmp(column->name, name) != 0)
				continue;
			if (column->verdict.type != INFER_TYPE_TEXT || column->made)
				return false;
			found = true;
		}
	return found;
}

/* Returns true when the item is a column of texts: name, t.name, max(name). */
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

/* Marks the columns of that name, or all for NULL. Returns false when there is none. */
static bool mark(struct query *q, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < q->count; i++)
		for (size_t c = 0; c < q->sheets[i]->count; c++) {
			struct column *column = &q->sheets[i]->columns[c];

			if (name != NULL && strcasecmp(column->name, name) != 0)
				continue;
			column->paired = found = true;
			q->all = q->all || column->made;
		}
	return found;
}

/*
 * Marks everything that the item may mean. A name that no column has, or that the query defines,
 * may stand for any column.
 */
static void mark_item(struct query *q, size_t at, size_t end)
{
	bool found = false;

	for (; at < end; at++) {
		cleanup_free char *name = NULL;

		if (!is_name(q, at))
			continue;
		name = token_name(&q->tokens.lexer, tokens_at(&q->tokens, at));
		found = mark(q, name) || found;
	}
	if (!found || q->all)
		(void)mark(q, NULL);
}

/* Marks the list from `left`, which ends before `end`, by the items from `right` on, behind IN. */
static void mark_pairs(struct query *q, size_t left, size_t end, size_t right)
{
	static const char *const words[] = { "SELECT", "DISTINCT", "ALL", NULL };
	/* The columns of IN t, IN (VALUES ...) and the like are not visible. */
	bool plain = !q->compound && tokens_is_char(&q->tokens, right, '(') &&
		     tokens_is(&q->tokens, right + 1, "SELECT");

	right += plain;
	while (plain && tokens_is_any(&q->tokens, right, words))
		right++;
	while (left < end) {
		size_t left_end = behind_item(q, left, end);
		size_t right_end = plain ? behind_item(q, right, q->tokens.count) : right;

		if (!plain || !is_text_item(q, right, right_end))
			mark_item(q, left, left_end);
		left = left_end + 1;
		right = right_end + 1;
	}
}

/*
 * Returns the list in the brackets at `open`, maybe within others, that is followed by IN; 0 for
 * none.
 */
static size_t begin_of_list(const struct query *q, size_t open)
{
	const size_t *behind = q->tokens.behind;

	if (!tokens_is_char(&q->tokens, open, '(') || !tokens_is(&q->tokens, behind[open], "IN"))
		return 0;
	while (tokens_is_char(&q->tokens, open + 1, '(') && behind[open + 1] == behind[open] - 1)
		open++;
	return behind_item(q, open + 1, behind[open] - 1) < behind[open] - 1 ? open + 1 : 0;
}

void pairs_mark(struct sheet *const *sheets, size_t count, const char *sql, size_t len)
{
	struct query q = { .sheets = sheets, .count = count };
	bool looked = false;
	struct err err;

	token_start(&q.tokens.lexer, SQL_SQLITE, sql, len);
	if (tokens_read(&q.tokens, &err) == 0)
		for (size_t i = 0; i < q.tokens.count; i++) {
			size_t begin = begin_of_list(&q, i);

			if (begin == 0)
				continue;
			if (!looked)
				mark_names(&q);
			looked = true;
			mark_pairs(&q, begin, q.tokens.behind[begin - 1] - 1,
				   q.tokens.behind[i] + 1);
		}
	tokens_release(&q.tokens);
}
