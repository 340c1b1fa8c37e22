/* SPDX-License-Identifier: MIT */
#include "constant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "advise.h"
#include "base/mem.h"
#include "text/sanitize.h"

enum kind { KIND_ORDER, KIND_GROUP, KIND_VALUE, KIND_CONDITION, KIND_NULL, KIND_LIST, KINDS };

struct telling {
	const struct sides *sides;
	struct sink *sink;
	bool told[KINDS];
};

static bool is_text(const struct clause *clause, size_t at)
{
	return clause->tokens[at].kind == TOKEN_STRING;
}

/* Once for each kind. */
static bool is_new(struct telling *telling, enum kind kind)
{
	bool new = !telling->told[kind];

	telling->told[kind] = true;
	return new;
}

/* A column of the files that has the text at `at` for its name; NULL for none. */
static const struct column *column_of(const struct sides *sides, size_t at)
{
	cleanup_free char *name = token_text(&sides->clause->lexer, &sides->clause->tokens[at]);

	for (size_t s = 0; s < sides->count; s++)
		for (size_t i = 0; sides->sheets[s]->used && i < sides->sheets[s]->count; i++)
			if (strcasecmp(sides->sheets[s]->columns[i].name, name) == 0)
				return &sides->sheets[s]->columns[i];
	return NULL;
}

/* As the query has it. */
static char *shown(const struct clause *clause, size_t at)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_put(&text, clause->lexer.text + clause->tokens[at].at, clause->tokens[at].len);
	return sanitize_quote(buf_str(&text));
}

/* Why the text at `at` is none of what was meant. */
static void put_why(struct buf *out, const struct sides *sides, size_t at)
{
	const struct column *column = column_of(sides, at);

	buf_puts(out, "it is a text, the same for each row; ");
	if (column == NULL) {
		buf_puts(out, "a column has no single quotes");
		return;
	}
	buf_puts(out, "the column is ");
	advise_put_name(out, column->name);
}

/* ---- ORDER BY 'v' ---- */

/* The same text stands elsewhere, too, as in SELECT 'all', v ... GROUP BY 'all', v. */
static bool is_meant(const struct sides *sides, size_t at)
{
	const struct clause *clause = sides->clause;

	return is_text(clause, at) && column_of(sides, at) == NULL &&
	       (clause->firsts[at] != at || clause->nexts[at] != 0);
}

static void tell_item(struct telling *telling, size_t by, size_t at)
{
	const struct clause *clause = telling->sides->clause;
	bool order = clause_is(clause, by - 1, "ORDER");
	cleanup_free char *constant = shown(clause, at);
	cleanup_free char *word = shown(clause, by - 1);
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (is_meant(telling->sides, at) || !is_new(telling, order ? KIND_ORDER : KIND_GROUP))
		return;
	if (is_text(clause, at))
		put_why(&why, telling->sides, at);
	else
		buf_puts(&why, "a parameter is a value, the same for each row; the name of a "
			       "column stands in the query itself");
	sink_note(telling->sink, "%s BY %s %s nothing: %s", word, constant,
		  order ? "orders" : "separates", buf_str(&why));
}

/* ORDER BY, GROUP BY, PARTITION BY; `by` is BY. */
static void look_at_items(struct telling *telling, size_t by)
{
	static const char *const ends[] = { "ASC", "DESC", "NULLS", "COLLATE", NULL };
	const struct clause *clause = telling->sides->clause;
	size_t at = by;

	do {
		size_t begin = at + 1;

		at = clause_right_of(clause, begin, false);
		if (at > begin &&
		    (is_text(clause, begin) || clause->tokens[begin].kind == TOKEN_PARAM) &&
		    (at == begin + 1 || clause_is_any(clause, begin + 1, ends)))
			tell_item(telling, by, begin);
	} while (clause_is_char(clause, at, ','));
}

/* ---- max('v') ---- */

static void look_at_argument(struct telling *telling, size_t call)
{
	static const char *const names[] = { "count", "sum",    "total",        "avg", "min",
					     "max",   "median", "group_concat", NULL };
	const struct clause *clause = telling->sides->clause;
	size_t at = call + 2;
	cleanup_free char *name = NULL;
	cleanup_free char *constant = NULL;
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (!clause_is_any(clause, call, names) || !clause_is_char(clause, call + 1, '('))
		return;
	at += clause_is(clause, at, "DISTINCT");
	if (!is_text(clause, at) || !clause_is_char(clause, at + 1, ')') ||
	    column_of(telling->sides, at) == NULL || !is_new(telling, KIND_VALUE))
		return;
	name = shown(clause, call);
	constant = shown(clause, at);
	put_why(&why, telling->sides, at);
	sink_note(telling->sink, "%s() of %s: %s", name, constant, buf_str(&why));
}

/* ---- 'v' = 9, v = NULL ---- */

/* Nothing but texts, numbers and NULL. */
static bool is_constant(const struct clause *clause, struct side side)
{
	static const char *const words[] = { "NULL", "TRUE", "FALSE", "AND", NULL };

	for (size_t at = side.begin; at < side.end; at++)
		if (!is_text(clause, at) && clause->tokens[at].kind != TOKEN_NUMBER &&
		    !clause_is_one_of(clause, at, "(),+-") && !clause_is_any(clause, at, words))
			return false;
	return side.end > side.begin;
}

static void look_at_column(struct telling *telling, struct side a, struct side b)
{
	const struct clause *clause = telling->sides->clause;
	cleanup_free char *constant = NULL;
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (a.end != a.begin + 1 || !is_text(clause, a.begin) || !is_constant(clause, b) ||
	    column_of(telling->sides, a.begin) == NULL || !is_new(telling, KIND_VALUE))
		return;
	constant = shown(clause, a.begin);
	put_why(&why, telling->sides, a.begin);
	sink_note(telling->sink, "%s is compared with a constant: %s", constant, buf_str(&why));
}

static bool is_null(const struct clause *clause, struct side side)
{
	return side.end == side.begin + 1 && clause_is(clause, side.begin, "NULL");
}

static void tell_null(struct telling *telling)
{
	if (is_new(telling, KIND_NULL))
		sink_note(telling->sink, "a comparison with NULL is true for no row: IS NULL finds "
					 "missing values, IS NOT NULL the others");
}

static void tell_missing(struct telling *telling, const struct column *column)
{
	cleanup_free char *shown_name = column_shown(column->name);
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);

	advise_put_name(&name, column->name);
	sink_note(telling->sink,
		  "NOT IN is true for no row here, as %s has missing values: WHERE %s IS NOT NULL "
		  "in its SELECT leaves them out",
		  shown_name, buf_str(&name));
}

/* NOT IN ('a', NULL) */
static void look_at_list(struct telling *telling, struct side list)
{
	const struct clause *clause = telling->sides->clause;

	for (size_t at = list.begin + 1; at + 1 < list.end; at++)
		if (clause_is(clause, at, "NULL") && clause_bracket_of(clause, at) == list.begin &&
		    clause_is_one_of(clause, at - 1, "(,") &&
		    clause_is_one_of(clause, at + 1, ",)") && is_new(telling, KIND_LIST))
			sink_note(telling->sink, "NOT IN with NULL in its list is true for no row: "
						 "leave NULL out");
}

/* WITH t AS (SELECT ...), WITH t(v) AS: the file that is called so is not meant. */
static bool is_made(const struct clause *clause, size_t name)
{
	for (size_t i = clause->firsts[name]; i + 3 < clause->count; i = clause->nexts[i]) {
		if (clause_is_char(clause, i + 1, '(') ||
		    (clause_is(clause, i + 1, "AS") && (clause_is_char(clause, i + 2, '(') ||
							clause_is(clause, i + 2, "MATERIALIZED") ||
							clause_is(clause, i + 3, "MATERIALIZED"))))
			return true;
		if (clause->nexts[i] == 0)
			break;
	}
	return false;
}

/* NOT IN (SELECT v FROM t), where v has missing values: nothing else is in the brackets. */
static void look_at_select(struct telling *telling, struct side list)
{
	static const char *const words[] = { "SELECT", "DISTINCT", "ALL", NULL };
	const struct clause *clause = telling->sides->clause;
	cleanup_free char *name = NULL;
	const struct sheet *sheet;
	size_t at = list.begin + 1;

	while (clause_is_any(clause, at, words))
		at++;
	if (at + 4 != list.end || !clause_is_name(clause, at) ||
	    !clause_is(clause, at + 1, "FROM") || !clause_is_name(clause, at + 2) ||
	    is_made(clause, at + 2))
		return;
	sheet = side_sheet(telling->sides, at + 2);
	name = token_name(&clause->lexer, &clause->tokens[at]);
	for (size_t i = 0; sheet != NULL && i < sheet->count; i++)
		if (strcasecmp(sheet->columns[i].name, name) == 0 &&
		    column_present(&sheet->columns[i]) < sheet->rows && is_new(telling, KIND_LIST))
			tell_missing(telling, &sheet->columns[i]);
}

static void look_at_excluded(struct telling *telling, struct side list)
{
	look_at_list(telling, list);
	if (clause_is(telling->sides->clause, list.begin + 1, "SELECT"))
		look_at_select(telling, list);
}

static void look_at_operator(struct telling *telling, size_t at, size_t behind)
{
	const struct clause *clause = telling->sides->clause;
	bool is = clause_is(clause, at, "IS");
	bool unequal = at > 0 && clause_is(clause, at - 1, "NOT");
	struct side a = { .end = unequal ? at - 1 : at };
	struct side b = { .begin = behind + (is && clause_is(clause, behind, "NOT")) };

	a.begin = clause_left_of(clause, a.end);
	b.end = clause_right_of(clause, b.begin, clause_is(clause, at, "BETWEEN"));
	look_at_column(telling, a, b);
	look_at_column(telling, b, a);
	if (unequal && clause_is(clause, at, "IN"))
		look_at_excluded(telling, b);
	else if (clause_is_one_of(clause, at, "<>=!") && (is_null(clause, a) || is_null(clause, b)))
		tell_null(telling);
}

/* ---- v = 'a' OR 'b' ---- */

static void look_at_condition(struct telling *telling, size_t at)
{
	const struct clause *clause = telling->sides->clause;
	cleanup_free char *constant = NULL;
	cleanup_free char *text = NULL;
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);
	const struct column *column;
	const char *number;

	if (!is_text(clause, at) || clause_is(clause, at - 1, "WHEN") ||
	    !clause_begins_condition(clause, at) || !clause_ends_condition(clause, at + 1) ||
	    !is_new(telling, KIND_CONDITION))
		return;
	column = column_of(telling->sides, at);
	if (column != NULL)
		advise_put_name(&way, column->name);
	constant = shown(clause, at);
	text = token_text(&clause->lexer, &clause->tokens[at]);
	number = text + strspn(text, " +-.");
	sink_note(telling->sink, "the text %s is a condition by itself here, %s for each row; %s%s",
		  constant,
		  isdigit((unsigned char)*number) && strtod(text, NULL) != 0 ? "true" : "false",
		  column != NULL ? "the column is "
				 : "compare a column with it, as in k = 'a' OR k = 'b'",
		  buf_str(&way));
}

/* ---- all of it ---- */

void constant_tell(const struct sides *sides, struct sink *sink)
{
	static const char *const words[] = { "ORDER", "GROUP", "PARTITION", NULL };
	struct telling telling = { .sides = sides, .sink = sink };
	const struct clause *clause = sides->clause;

	for (size_t at = 1; at + 1 < clause->count; at++) {
		size_t behind = clause_behind_operator(clause, at);

		if (behind > at && !clause_is_char(clause, at, '-'))
			look_at_operator(&telling, at, behind);
		else if (clause_is(clause, at, "BY") && clause_is_any(clause, at - 1, words))
			look_at_items(&telling, at);
		else if (clause_is(clause, at, "WHEN") && clause_is(clause, at + 1, "NULL") &&
			 clause_is(clause, at + 2, "THEN"))
			tell_null(&telling);
		else
			look_at_condition(&telling, at);
		if (at + 3 < clause->count)
			look_at_argument(&telling, at);
		at = behind > at ? behind - 1 : at;
	}
}
