/* SPDX-License-Identifier: MIT */
/*
 * letters.c - replaces SQLite's functions of the same names on connections to CSV files, where no
 * index depends on them. LIKE backtracks to the last % only, which is enough: an earlier % never
 * needs to take more. Case is compared letter by letter (text/cases.h), without locale.
 */
#include "letters.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/util.h"
#include "sqlite.h"
#include "text/cases.h"

enum { PURE = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

typedef char *change_case(const char *s, size_t len, size_t *ret_len);

static void give(sqlite3_context *context, sqlite3_value *value, change_case *change)
{
	const char *text = (const char *)sqlite3_value_text(value);
	cleanup_free char *changed = NULL;
	size_t len;

	if (text == NULL)
		return;
	changed = change(text, (size_t)sqlite3_value_bytes(value), &len);
	if (changed == NULL)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text64(context, changed, len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void lower(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	give(context, values[0], cases_lower);
}

static void upper(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	give(context, values[0], cases_upper);
}

/* ---- LIKE ---- */

struct text {
	const char *s;
	size_t len;
};

static uint32_t first_of(const struct text *text, size_t *ret_len)
{
	return cases_first(text->s, text->len, ret_len);
}

static void skip(struct text *text, size_t len)
{
	text->s += len;
	text->len -= len;
}

/* Takes one character of the pattern. Sets *ret_plain when it stands for itself. */
static uint32_t take(struct text *pattern, uint32_t escape, bool *ret_plain)
{
	size_t len;
	uint32_t c = first_of(pattern, &len);

	skip(pattern, len);
	*ret_plain = escape != 0 && c == escape; /* at the end it stands for nothing */
	if (*ret_plain) {
		c = first_of(pattern, &len);
		skip(pattern, len);
	}
	return c;
}

/* Matches a pattern. The last % takes as much as needed; what follows it is tried again. */
static bool matches(struct text pattern, struct text text, uint32_t escape)
{
	struct text behind = { .s = NULL }; /* the pattern behind the last % */
	struct text from = text;            /* where the text that it takes ends */

	while (text.len > 0 || pattern.len > 0) {
		struct text next = pattern;
		bool plain = false;
		uint32_t wanted = take(&next, escape, &plain);
		size_t len;
		uint32_t c = first_of(&text, &len);

		if (pattern.len > 0 && wanted == '%' && !plain) {
			behind = pattern = next;
			from = text;
		} else if (text.len > 0 && pattern.len > 0 &&
			   ((wanted == '_' && !plain) || cases_are_same(wanted, c))) {
			pattern = next;
			skip(&text, len);
		} else if (behind.s != NULL && from.len > 0) {
			(void)first_of(&from, &len);
			skip(&from, len);
			pattern = behind;
			text = from;
		} else {
			return false;
		}
	}
	return true;
}

static struct text text_of(sqlite3_value *value)
{
	const char *s = (const char *)sqlite3_value_text(value);

	return (struct text){ .s = s, .len = s != NULL ? (size_t)sqlite3_value_bytes(value) : 0 };
}

/* Implements like(pattern, text, escape), which is text LIKE pattern ESCAPE escape. */
static void like(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct text escape = { .s = NULL };
	uint32_t c = 0;
	size_t len = 0;

	for (int i = 0; i < count; i++)
		if (sqlite3_value_type(values[i]) == SQLITE_NULL)
			return;
	/* Debian's SQLite does the same. */
	if (sqlite3_value_type(values[0]) == SQLITE_BLOB ||
	    sqlite3_value_type(values[1]) == SQLITE_BLOB) {
		sqlite3_result_int(context, 0);
		return;
	}
	if (count == 3) {
		escape = text_of(values[2]);
		c = first_of(&escape, &len);
		if (len == 0 || len != escape.len) {
			sqlite3_result_error(context,
					     "ESCAPE expression must be a single character", -1);
			return;
		}
	}
	sqlite3_result_int(context, matches(text_of(values[0]), text_of(values[1]), c));
}

int letters_register(sqlite3 *db, struct err *err)
{
	static const struct {
		const char *name;
		int arguments;
		void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
	} functions[] = {
		{ "lower", 1, lower },
		{ "upper", 1, upper },
		{ "like", 2, like },
		{ "like", 3, like },
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments, PURE,
					       NULL, functions[i].call, NULL, NULL,
					       NULL) != SQLITE_OK)
			return sqlite_fail(db, err);
	return 0;
}
