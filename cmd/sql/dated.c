/* SPDX-License-Identifier: MIT */
/*
 * dated.c - tests constants of date functions. Constants are tested by running them: SQLite
 * evaluates the function on a sample date, and NULL shows that it does not know the format, the
 * value or the modifier. Comparisons use the example results of call.h: a text whose digits are at
 * other places can never be equal.
 */
#include "dated.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "call.h"
#include "sql/moment.h"
#include "text/sanitize.h"

/* Returns the tokens from `at` to `end` as the query has them. The caller frees the result. */
static char *shown(const struct clause *clause, size_t at, size_t end)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const struct token *first = &clause->tokens[at];
	const struct token *last = &clause->tokens[end - 1];

	buf_put(&text, clause->lexer.text + first->at, last->at + last->len - first->at);
	return sanitize_quote(buf_str(&text));
}

/* ---- constants that give NULL for every date ---- */

/* Returns true when SQLite computes NULL for the expression, in which ?1 is the text. */
static bool is_null(const struct dated *dated, const char *expression, const char *text)
{
	cleanup_free char *sql = xasprintf("SELECT %s", expression);
	sqlite3_stmt *statement = NULL;
	bool null = false;

	if (sqlite3_prepare_v2(dated->db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		null = sqlite3_column_type(statement, 0) == SQLITE_NULL;
	(void)sqlite3_finalize(statement);
	return null;
}

/* Returns the argument's text if it is a constant. The caller frees it. NULL otherwise. */
static char *text_of(const struct clause *clause, size_t begin)
{
	return clause_is_one_of(clause, begin + 1, ",)") ? clause_text(clause, begin) : NULL;
}

static void inspect_format(struct dated *dated, size_t call, size_t at, const char *text)
{
	cleanup_free char *format = shown(dated->clause, at, at + 1);
	cleanup_free char *name = shown(dated->clause, call, call + 1);

	if (dated->format || !is_null(dated, "strftime(?1, '2026-01-05 10:00:00')", text))
		return;
	dated->format = true;
	sink_note(dated->sink,
		  "%s(%s, ...) is NULL for each date: SQLite does not know its format; %%Y %%m %%d "
		  "%%H %%M %%S %%j %%w %%W %%s are some that it knows",
		  name, format);
}

static void inspect_value(struct dated *dated, size_t call, size_t at, const char *text)
{
	cleanup_free char *value = shown(dated->clause, at, at + 1);
	cleanup_free char *name = shown(dated->clause, call, call + 1);

	if (dated->value ||
	    !is_null(dated, "coalesce(julianday(?1), julianday(?1, 'unixepoch'))", text))
		return;
	dated->value = true;
	sink_note(dated->sink, "%s(%s%s) is NULL: a date is written as '2026-01-31'", name,
		  clause_is(dated->clause, call, "strftime") ? "..., " : "", value);
}

static void inspect_modifier(struct dated *dated, size_t call, size_t at, const char *text)
{
	const struct clause *clause = dated->clause;
	cleanup_free char *modifier = shown(clause, at, at + 1);
	cleanup_free char *name = shown(clause, call, call + 1);
	cleanup_free char *format = NULL;

	if (dated->modifier ||
	    !is_null(dated, "coalesce(datetime('2026-01-05', ?1), datetime(2460000.5, ?1))", text))
		return;
	dated->modifier = true;
	if (clause_is(clause, call, "strftime"))
		format = shown(clause, call + 2, call + 3);
	sink_note(dated->sink,
		  "%s(%s%s..., %s) is NULL for each date: SQLite does not know its modifier; '+1 "
		  "month' and 'start of month' are two that it knows",
		  name, format != NULL ? format : "", format != NULL ? ", " : "", modifier);
}

void dated_look(struct dated *dated, size_t at)
{
	const struct clause *clause = dated->clause;
	size_t end = clause_behind_brackets(clause, at + 1);
	size_t value = clause_is(clause, at, "strftime");
	size_t index = 0;

	for (size_t i = at + 2; i + 1 < end; i++) {
		cleanup_free char *text = NULL;

		if (clause_bracket_of(clause, i) != at + 1 ||
		    !clause_is_one_of(clause, i - 1, i == at + 2 ? "(" : ","))
			continue;
		text = text_of(clause, i);
		if (text != NULL && index < value)
			inspect_format(dated, at, i, text);
		else if (text != NULL && index == value)
			inspect_value(dated, at, i, text);
		else if (text != NULL)
			inspect_modifier(dated, at, i, text);
		index++;
	}
}

/* ---- texts that they never return ---- */

/* Appends an example result when the side is only a date function; nothing otherwise. */
static void put_given(struct buf *out, const struct clause *clause, const struct side *side)
{
	bool call = clause_is_char(clause, side->begin + 1, '(') &&
		    clause_behind_brackets(clause, side->begin + 1) == side->end;

	if (call || (side->end == side->begin + 1 && call_is_now(clause, side->begin)))
		call_put_given(out, clause, side->begin);
	/* A part of the format is not known. */
	if (strchr(buf_str(out), '?') != NULL)
		buf_clear(out);
}

/*
 * Returns true when both have digits and other characters at the same places, up to the end of one.
 */
static bool begins_alike(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
		if (isdigit((unsigned char)*a) ? !isdigit((unsigned char)*b) : *a != *b)
			return false;
	return true;
}

static bool is_other(const char *given, const char *text, bool orders)
{
	return strpbrk(text, "0123456789") != NULL &&
	       (!begins_alike(given, text) || (!orders && strlen(given) != strlen(text)));
}

static void report_other(struct dated *dated, const struct side *a, const char *given,
			 const char *other)
{
	bool call = clause_is_char(dated->clause, a->begin + 1, '(');
	cleanup_free char *name = shown(dated->clause, a->begin, a->begin + 1);

	if (dated->compared)
		return;
	dated->compared = true;
	sink_note(dated->sink,
		  "%s%s gives texts like '%s' and was compared with %s, as text: write it in the "
		  "same form",
		  name, call ? "()" : "", given, other);
}

/* Compares with the texts of `b`: one, or those in brackets. */
static void compare_texts(struct dated *dated, const struct side *a, const struct side *b,
			  const char *given, bool orders)
{
	bool list = clause_is_char(dated->clause, b->begin, '(');

	for (size_t at = b->begin + list; at < b->end; at += 2) {
		cleanup_free char *text = clause_text(dated->clause, at);
		cleanup_free char *quoted = text != NULL ? sanitize_quote(text) : NULL;
		cleanup_free char *other = xasprintf("'%s'", quoted != NULL ? quoted : "");

		if (text == NULL ||
		    (at + 1 < b->end && !clause_is_one_of(dated->clause, at + 1, ",)")))
			return;
		if (is_other(given, text, orders))
			report_other(dated, a, given, other);
	}
}

void dated_compare(struct dated *dated, const struct side *a, const struct side *b, bool orders,
		   bool shorter)
{
	cleanup_buf struct buf given = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf other = BUF_INIT(BUF_UNBOUNDED);
	bool midnight = shorter && b->midnight;
	cleanup_free char *name = NULL;

	if (a->end <= a->begin || b->end <= b->begin)
		return;
	put_given(&given, dated->clause, a);
	if (given.len == 0)
		return;
	midnight = midnight && moment_is_day(moment_traits(buf_str(&given), given.len));
	put_given(&other, dated->clause, b);
	if (other.len == 0) {
		compare_texts(dated, a, b, buf_str(&given), orders && !midnight);
		return;
	}
	name = shown(dated->clause, b->begin, b->begin + 1);
	if (midnight || is_other(buf_str(&given), buf_str(&other), orders)) {
		buf_clear(&other);
		buf_putf(&other, "%s%s", name,
			 clause_is_char(dated->clause, b->begin + 1, '(') ? "()" : "");
		report_other(dated, a, buf_str(&given), buf_str(&other));
	}
}
