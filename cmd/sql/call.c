/* SPDX-License-Identifier: MIT */
/*
 * call.c - knows what SQL functions return. Tables have what each function returns. Date functions
 * have an example, a date with every trait that a result may have, whose traits then stand for the
 * result. A function that returns one of its arguments, as coalesce() does, is not skipped: its
 * arguments are inspected.
 */
#include "call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "sql/moment.h"

/* ---- functions of dates ---- */

/* A function and its result, for a date with all traits that results may have. */
struct form {
	const char *name;
	const char *given;
};

static const struct form forms[] = { { "date", "2026-01-05" },
				     { "datetime", "2026-01-05 05:00:00" },
				     { "time", "05:00:00" } };
static const struct form now[] = { { "CURRENT_DATE", "2026-01-05" },
				   { "CURRENT_TIMESTAMP", "2026-01-05 05:00:00" },
				   { "CURRENT_TIME", "05:00:00" } };
static const struct form parts[] = { { "Y", "2026" },      { "m", "01" },    { "d", "05" },
				     { "e", " 5" },        { "H", "05" },    { "k", " 5" },
				     { "M", "00" },        { "S", "00" },    { "f", "00.000" },
				     { "j", "005" },       { "w", "1" },     { "W", "01" },
				     { "%", "%" },         { "R", "05:00" }, { "T", "05:00:00" },
				     { "F", "2026-01-05" } };

static const char *find_form(const struct clause *clause, size_t at, const struct form *list,
			     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (clause_is(clause, at, list[i].name))
			return list[i].given;
	return "";
}

static const char *part_of(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (*parts[i].name == letter)
			return parts[i].given;
	return "?";
}

/* Appends the result of strftime('%Y-%m-%d', d). */
static void put_formatted(struct buf *out, const struct clause *clause, size_t at)
{
	cleanup_free char *format = NULL;

	if (clause->tokens[at].kind != TOKEN_STRING)
		return;
	format = token_text(&clause->lexer, &clause->tokens[at]);
	for (const char *s = format; *s != '\0'; s++) {
		if (*s == '%' && s[1] != '\0')
			buf_puts(out, part_of(*++s));
		else
			buf_put(out, s, 1);
	}
}

bool call_is_now(const struct clause *clause, size_t at)
{
	return *find_form(clause, at, now, ARRAY_SIZE(now)) != '\0';
}

void call_put_given(struct buf *out, const struct clause *clause, size_t at)
{
	if (call_is_now(clause, at))
		buf_puts(out, find_form(clause, at, now, ARRAY_SIZE(now)));
	else if (clause_is(clause, at, "strftime"))
		put_formatted(out, clause, at + 2);
	else
		buf_puts(out, find_form(clause, at, forms, ARRAY_SIZE(forms)));
}

/* Returns true when a text between is a day, or turns any moment into one, and none adds a time. */
static bool has_day(const struct clause *clause, size_t at, size_t end)
{
	static const char *const times[] = { "hour", "minute", "second", "localtime", "utc" };
	bool day = false;

	for (; at < end; at++) {
		cleanup_free char *text = clause_text(clause, at);

		if (text == NULL)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(times); i++)
			if (strcasestr(text, times[i]) != NULL)
				return false;
		day = day || moment_is_day(moment_traits(text, strlen(text))) ||
		      moment_is_midnight(text, strlen(text)) ||
		      strncasecmp(text, "start of", 8) == 0;
	}
	return day;
}

void call_add_moments(const struct clause *clause, size_t at, struct side *side)
{
	cleanup_buf struct buf given = BUF_INIT(BUF_UNBOUNDED);
	unsigned traits;

	call_put_given(&given, clause, at);
	traits = moment_traits(buf_str(&given), given.len);
	side->written |= traits;
	if (moment_is_midnight(buf_str(&given), given.len) ||
	    (moment_has_both(traits) && clause_is_char(clause, at + 1, '(') &&
	     has_day(clause, at, clause_behind_brackets(clause, at + 1))))
		side->midnight = true;
}

/* Returns the token behind the first argument of the call at `at`. */
static size_t behind_argument(const struct clause *clause, size_t at)
{
	size_t end = clause_behind_brackets(clause, at + 1);
	size_t depth = 0;

	for (at++; at < end; at++) {
		if (depth == 1 && clause_is_char(clause, at, ','))
			break;
		depth += clause_is_char(clause, at, '(');
		depth -= clause_is_char(clause, at, ')');
	}
	return at;
}

/* Finds 'unixepoch' and the like. */
static bool has_modifier(const struct clause *clause, size_t at, size_t end)
{
	static const char *const words[] = { "unixepoch", "auto", "julianday" };

	for (; at < end; at++) {
		cleanup_free char *text = NULL;

		if (clause->tokens[at].kind != TOKEN_STRING)
			continue;
		text = token_text(&clause->lexer, &clause->tokens[at]);
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (strcasecmp(text, words[i]) == 0)
				return true;
	}
	return false;
}

struct side call_dated_name(const struct clause *clause, size_t at)
{
	size_t end = clause_behind_brackets(clause, at + 1) - 1;
	size_t begin = clause_is(clause, at, "strftime") ? behind_argument(clause, at) + 1 : at + 2;
	size_t behind = begin + 1;

	if (clause_is_char(clause, behind, '.'))
		behind += 2;
	if (begin >= end || behind > end || !clause_is_name(clause, behind - 1) ||
	    !clause_is_one_of(clause, behind, ",)") || has_modifier(clause, behind, end))
		return (struct side){ .begin = at, .end = at };
	return (struct side){ .begin = begin, .end = behind };
}

/* ---- functions ---- */

/*
 * Adds the result of the call at `at` to the side. Returns true when the result is that of the
 * arguments, which must then be inspected.
 */
static bool gives_its_arguments(const struct clause *clause, size_t at, struct side *side)
{
	static const char *const numbers[] = { "count",           "sum",        "avg",
					       "total",           "length",     "abs",
					       "round",           "instr",      "median",
					       "stddev",          "percentile", "percentile_cont",
					       "percentile_disc", "row_number", "rank",
					       "dense_rank",      "ntile",      "unicode",
					       "unixepoch",       "julianday",  "ceil",
					       "floor",           "sign",       NULL };
	static const char *const same[] = { "coalesce",  "ifnull",    "nullif",      "max",
					    "min",       "trim",      "ltrim",       "rtrim",
					    "in",        "any_value", "first_value", "last_value",
					    "nth_value", "lag",       "lead",        "between",
					    "values",    "likely",    "unlikely",    NULL };
	static const char *const texts[] = { "substr",  "substring", "strftime",     "date",
					     "time",    "datetime",  "upper",        "lower",
					     "replace", "printf",    "format",       "hex",
					     "char",    "quote",     "group_concat", "string_agg",
					     "typeof",  NULL };

	side->number = side->number || clause_is_any(clause, at, numbers);
	if (side->call == 0 && clause_is_any(clause, at, texts))
		side->call = at;
	return clause_is_any(clause, at, same);
}

bool call_casts_to_number(const struct clause *clause, size_t at)
{
	static const char *const types[] = { "REAL",   "INTEGER", "INT",    "NUMERIC", "FLOAT",
					     "DOUBLE", "DECIMAL", "BIGINT", "BOOLEAN", NULL };
	size_t end = clause_behind_brackets(clause, at + 1);

	for (; at + 1 < end; at++)
		if (clause_is(clause, at, "AS") && clause_is_any(clause, at + 1, types))
			return true;
	return false;
}

size_t call_behind(const struct clause *clause, size_t at, struct side *side)
{
	size_t next;

	if (clause_is(clause, at, "iif"))
		return behind_argument(clause, at);
	if (gives_its_arguments(clause, at, side))
		return at;
	call_add_moments(clause, at, side);
	next = clause_behind_brackets(clause, at + 1);
	if (clause_is(clause, at, "CAST"))
		side->numeric = side->numeric || call_casts_to_number(clause, at);
	return next;
}
