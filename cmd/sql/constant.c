/* SPDX-License-Identifier: MIT */
/*
 * constant.c - finds quoted names and comparisons with NULL. In SQL single quotes make a text, but
 * many users quote a column's name with them: ORDER BY 'v', max('v') and 'v' = 9 then run without
 * an error. A constant is reported when a column has its name, or when its place makes no constant
 * sensible. Comparisons with NULL, and NOT IN with NULL in it, are never true and are reported too.
 */
#include "constant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "advise.h"
#include "base/mem.h"
#include "text/sanitize.h"

enum kind { KIND_ORDER, KIND_GROUP, KIND_VALUE, KIND_CONDITION, KIND_NULL, KIND_LIST, KINDS };

struct reporter {
	const struct sides *sides;
	struct sink *sink;
	bool reported[KINDS];
};

static bool is_text(const struct clause *clause, size_t at)
{
	return clause->tokens[at].kind == TOKEN_STRING;
}

/* Returns true once for each kind. */
static bool is_new(struct reporter *reporter, enum kind kind)
{
	bool new = !reporter->reported[kind];

	reporter->reported[kind] = true;
	return new;
}

/* Returns the files' column whose name is the text at `at`; NULL for none. */
static const struct column *column_of(const struct sides *sides, size_t at)
{
	cleanup_free char *name = token_text(&sides->clause->lexer, &sides->clause->tokens[at]);

	for (size_t s = 0; s < sides->count; s++)
		for (size_t i = 0; sides->sheets[s]->used && i < sides->sheets[s]->count; i++)
			if (strcasecmp(sides->sheets[s]->columns[i].name, name) == 0)
				return &sides->sheets[s]->columns[i];
	return NULL;
}

/* Returns the token as the query has it. The caller frees it. */
static char *shown(const struct clause *clause, size_t at)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_put(&text, clause->lexer.text + clause->tokens[at].at, clause->tokens[at].len);
	return sanitize_quote(buf_str(&text));
}

/* Appends why the text at `at` does not do what was meant. */
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

/* Returns true when the same text is elsewhere too, as in SELECT 'all', v ... GROUP BY 'all', v. */
static bool is_meant(const struct sides *sides, size_t at)
{
	const struct clause *clause = sides->clause;

	return is_text(clause, at) && column_of(sides, at) == NULL &&
	       (clause->firsts[at] != at || clause->nexts[at] != 0);
}

static void report_item(struct reporter *reporter, size_t by, size_t at)
{
	const struct clause *clause = reporter->sides->clause;
	bool order = clause_is(clause, by - 1, "ORDER");
	cleanup_free char *constant = shown(clause, at);
	cleanup_free char *word = shown(clause, by - 1);
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (is_meant(reporter->sides, at) || !is_new(reporter, order ? KIND_ORDER : KIND_GROUP))
		return;
	if (is_text(clause, at))
		put_why(&why, reporter->sides, at);
	else
		buf_puts(&why, "a parameter is a value, the same for each row; the name of a "
			       "column stands in the query itself");
	sink_note(reporter->sink, "%s BY %s %s nothing: %s", word, constant,
		  order ? "orders" : "separates", buf_str(&why));
}

/* Inspects ORDER BY, GROUP BY and PARTITION BY; `by` is BY. */
static void inspect_items(struct reporter *reporter, size_t by)
{
	static const char *const ends[] = { "ASC", "DESC", "NULLS", "COLLATE", NULL };
	const struct clause *clause = reporter->sides->clause;
	size_t at = by;

	do {
		size_t begin = at + 1;

		at = clause_right_of(clause, begin, false);
		if (at > begin &&
		    (is_text(clause, begin) || clause->tokens[begin].kind == TOKEN_PARAM) &&
		    (at == begin + 1 || clause_is_any(clause, begin + 1, ends)))
			report_item(reporter, by, begin);
	} while (clause_is_char(clause, at, ','));
}

/* ---- max('v') ---- */

static void inspect_argument(struct reporter *reporter, size_t call)
{
	static const char *const names[] = { "count", "sum",    "total",        "avg", "min",
					     "max",   "median", "group_concat", NULL };
	const struct clause *clause = reporter->sides->clause;
	size_t at = call + 2;
	cleanup_free char *name = NULL;
	cleanup_free char *constant = NULL;
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (!clause_is_any(clause, call, names) || !clause_is_char(clause, call + 1, '('))
		return;
	at += clause_is(clause, at, "DISTINCT");
	if (!is_text(clause, at) || !clause_is_char(clause, at + 1, ')') ||
	    column_of(reporter->sides, at) == NULL || !is_new(reporter, KIND_VALUE))
		return;
	name = shown(clause, call);
	constant = shown(clause, at);
	put_why(&why, reporter->sides, at);
	sink_note(reporter->sink, "%s() of %s: %s", name, constant, buf_str(&why));
}

/* ---- 'v' = 9, v = NULL ---- */

/* Returns true for texts, numbers and NULL only. */
static bool is_constant(const struct clause *clause, struct side side)
{
	static const char *const words[] = { "NULL", "TRUE", "FALSE", "AND", NULL };

	for (size_t at = side.begin; at < side.end; at++)
		if (!is_text(clause, at) && clause->tokens[at].kind != TOKEN_NUMBER &&
		    !clause_is_one_of(clause, at, "(),+-") && !clause_is_any(clause, at, words))
			return false;
	return side.end > side.begin;
}

static void inspect_column(struct reporter *reporter, struct side a, struct side b)
{
	const struct clause *clause = reporter->sides->clause;
	cleanup_free char *constant = NULL;
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (a.end != a.begin + 1 || !is_text(clause, a.begin) || !is_constant(clause, b) ||
	    column_of(reporter->sides, a.begin) == NULL || !is_new(reporter, KIND_VALUE))
		return;
	constant = shown(clause, a.begin);
	put_why(&why, reporter->sides, a.begin);
	sink_note(reporter->sink, "%s is compared with a constant: %s", constant, buf_str(&why));
}

static bool is_null(const struct clause *clause, struct side side)
{
	return side.end == side.begin + 1 && clause_is(clause, side.begin, "NULL");
}

static void report_null(struct reporter *reporter)
{
	if (is_new(reporter, KIND_NULL))
		sink_note(reporter->sink,
			  "a comparison with NULL is true for no row: IS NULL finds "
			  "missing values, IS NOT NULL the others");
}

static void report_missing(struct reporter *reporter, const struct column *column)
{
	cleanup_free char *shown_name = column_shown(column->name);
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);

	advise_put_name(&name, column->name);
	sink_note(reporter->sink,
		  "NOT IN is true for no row here, as %s has missing values: WHERE %s IS NOT NULL "
		  "in its SELECT leaves them out",
		  shown_name, buf_str(&name));
}

/* Inspects NOT IN ('a', NULL). */
static void inspect_list(struct reporter *reporter, struct side list)
{
	const struct clause *clause = reporter->sides->clause;

	for (size_t at = list.begin + 1; at + 1 < list.end; at++)
		if (clause_is(clause, at, "NULL") && clause_bracket_of(clause, at) == list.begin &&
		    clause_is_one_of(clause, at - 1, "(,") &&
		    clause_is_one_of(clause, at + 1, ",)") && is_new(reporter, KIND_LIST))
			sink_note(reporter->sink,
				  "NOT IN with NULL in its list is true for no row: "
				  "leave NULL out");
}

/* Returns true for WITH t AS (SELECT ...) and WITH t(v) AS, which hide the file of that name. */
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

/*
 * Inspects NOT IN (SELECT v FROM t), with nothing else in the brackets, where v has missing values.
 */
static void inspect_select(struct reporter *reporter, struct side list)
{
	static const char *const words[] = { "SELECT", "DISTINCT", "ALL", NULL };
	const struct clause *clause = reporter->sides->clause;
	cleanup_free char *name = NULL;
	const struct sheet *sheet;
	size_t at = list.begin + 1;

	while (clause_is_any(clause, at, words))
		at++;
	if (at + 4 != list.end || !clause_is_name(clause, at) ||
	    !clause_is(clause, at + 1, "FROM") || !clause_is_name(clause, at + 2) ||
	    is_made(clause, at + 2))
		return;
	sheet = side_sheet(reporter->sides, at + 2);
	name = token_name(&clause->lexer, &clause->tokens[at]);
	for (size_t i = 0; sheet != NULL && i < sheet->count; i++)
		if (strcasecmp(sheet->columns[i].name, name) == 0 &&
		    column_present(&sheet->columns[i]) < sheet->rows && is_new(reporter, KIND_LIST))
			report_missing(reporter, &sheet->columns[i]);
}

static void inspect_excluded(struct reporter *reporter, struct side list)
{
	inspect_list(reporter, list);
	if (clause_is(reporter->sides->clause, list.begin + 1, "SELECT"))
		inspect_select(reporter, list);
}

static void inspect_operator(struct reporter *reporter, size_t at, size_t behind)
{
	const struct clause *clause = reporter->sides->clause;
	bool is = clause_is(clause, at, "IS");
	bool unequal = at > 0 && clause_is(clause, at - 1, "NOT");
	struct side a = { .end = unequal ? at - 1 : at };
	struct side b = { .begin = behind + (is && clause_is(clause, behind, "NOT")) };

	a.begin = clause_left_of(clause, a.end);
	b.end = clause_right_of(clause, b.begin, clause_is(clause, at, "BETWEEN"));
	inspect_column(reporter, a, b);
	inspect_column(reporter, b, a);
	if (unequal && clause_is(clause, at, "IN"))
		inspect_excluded(reporter, b);
	else if (clause_is_one_of(clause, at, "<>=!") && (is_null(clause, a) || is_null(clause, b)))
		report_null(reporter);
}

/* ---- v = 'a' OR 'b' ---- */

static void inspect_condition(struct reporter *reporter, size_t at)
{
	const struct clause *clause = reporter->sides->clause;
	cleanup_free char *constant = NULL;
	cleanup_free char *text = NULL;
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);
	const struct column *column;
	const char *number;

	if (!is_text(clause, at) || clause_is(clause, at - 1, "WHEN") ||
	    !clause_begins_condition(clause, at) || !clause_ends_condition(clause, at + 1) ||
	    !is_new(reporter, KIND_CONDITION))
		return;
	column = column_of(reporter->sides, at);
	if (column != NULL)
		advise_put_name(&way, column->name);
	constant = shown(clause, at);
	text = token_text(&clause->lexer, &clause->tokens[at]);
	number = text + strspn(text, " +-.");
	sink_note(reporter->sink,
		  "the text %s is a condition by itself here, %s for each row; %s%s", constant,
		  isdigit((unsigned char)*number) && strtod(text, NULL) != 0 ? "true" : "false",
		  column != NULL ? "the column is "
				 : "compare a column with it, as in k = 'a' OR k = 'b'",
		  buf_str(&way));
}

/* ---- all of it ---- */

void constant_report(const struct sides *sides, struct sink *sink)
{
	static const char *const words[] = { "ORDER", "GROUP", "PARTITION", NULL };
	struct reporter reporter = { .sides = sides, .sink = sink };
	const struct clause *clause = sides->clause;

	for (size_t at = 1; at + 1 < clause->count; at++) {
		size_t behind = clause_behind_operator(clause, at);

		if (behind > at && !clause_is_char(clause, at, '-'))
			inspect_operator(&reporter, at, behind);
		else if (clause_is(clause, at, "BY") && clause_is_any(clause, at - 1, words))
			inspect_items(&reporter, at);
		else if (clause_is(clause, at, "WHEN") && clause_is(clause, at + 1, "NULL") &&
			 clause_is(clause, at + 2, "THEN"))
			report_null(&reporter);
		else
			inspect_condition(&reporter, at);
		if (at + 3 < clause->count)
			inspect_argument(&reporter, at);
		at = behind > at ? behind - 1 : at;
	}
}
