/* SPDX-License-Identifier: MIT */
/*
 * attribute.c - decides whether the word before a dot may be a value. Scopes are not resolved, so a
 * name counts as a value if any part of the query makes it one. The search is quadratic at worst
 * and has a budget; beyond it every such name counts as a call.
 */
#include "sql/attribute.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"

enum {
	NAME_SURE =
		60, /* PostgreSQL cuts names at 63 bytes, or before a character that does not fit */
	LOOKED_AT_MAX = 5000000, /* beyond it a name counts as a function's */
};

static bool is_name(const struct tokens *t, size_t i)
{
	enum token_kind kind = tokens_at(t, i)->kind;

	return kind == TOKEN_WORD || kind == TOKEN_QUOTED;
}

static bool names_value(const struct tokens *t, size_t i, const char *wanted)
{
	cleanup_free char *name = NULL;

	if (!is_name(t, i))
		return false;
	name = token_name(&t->lexer, &t->tokens[i]);
	return strncasecmp(name, wanted, NAME_SURE) == 0;
}

/* Functions without parentheses. */
static const char *const values[] = { "current_catalog",
				      "current_date",
				      "current_role",
				      "current_schema",
				      "current_time",
				      "current_timestamp",
				      "current_user",
				      "localtime",
				      "localtimestamp",
				      "session_user",
				      "system_user",
				      "user",
				      NULL };

/* Names of the values of TRIM, CAST and others, if these words do not appear in them. */
static const char *const implicit[] = {
	"btrim",    "ltrim",       "rtrim",         "pg_collation_for",
	"bpchar",   "varchar",     "bit",           "varbit",
	"bool",     "int2",        "int4",          "int8",
	"float4",   "float8",      "numeric",       "time",
	"timetz",   "timestamp",   "timestamptz",   "interval",
	"timezone", "like_escape", "is_normalized", "similar_to_escape",
	NULL
};

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcasecmp(name, *names) == 0)
			return true;
	return false;
}

/* Returns the "(" of the ")" at `i`, or `i` if there is none. */
static size_t opening(const struct tokens *t, size_t i)
{
	for (size_t k = i; k-- > 0; ++*t->looked_at)
		if (tokens_is_char(t, k, '(') && t->behind[k] == i + 1)
			return k;
	return i;
}

/* Returns whether it ends a query or joined tables: FROM (SELECT 1) x, but not FROM f(1) x. */
static bool ends_table(const struct tokens *t, size_t i)
{
	static const char *const words[] = { "FROM", "JOIN", "LATERAL", NULL };
	size_t open = opening(t, i);

	if (open == 0 || open == i)
		return false;
	if (tokens_is_char(t, open - 1, ',') || tokens_is_char(t, open - 1, '('))
		return true;
	return tokens_is_any(t, open - 1, words) && !(open > 1 && tokens_is(t, open - 2, "ROWS"));
}

/* Recognises FROM f(1): the function's name is its value's name. */
static bool is_function(const struct tokens *t, size_t i)
{
	static const char *const words[] = { "FROM", "JOIN", "LATERAL", NULL };

	if (!tokens_is_char(t, i + 1, '(') || t->named[i] || i == 0)
		return false;
	return tokens_is_any(t, i - 1, words) || tokens_is_char(t, i - 1, ',') ||
	       tokens_is_char(t, i - 1, '.') || tokens_is_char(t, i - 1, '(');
}

/* Recognises FROM f(1) x, FROM f(1) AS x, FROM current_user x. */
static bool is_alias_of_value(const struct tokens *t, size_t i)
{
	size_t of = i > 0 && tokens_is(t, i - 1, "AS") ? i - 1 : i;

	if (of == 0)
		return false;
	of--;
	return tokens_is_char(t, of, ')') ? !ends_table(t, of) : tokens_is_any(t, of, values);
}

/* Recognises FROM CAST('a' AS text): the value has the name of its type, or of its argument. */
static bool is_in_cast(const struct tokens *t, size_t i)
{
	static const char *const words[] = { "CAST", "TREAT", NULL };

	if (tokens_is_char(t, i + 1, '.'))
		return false;
	*t->looked_at += i;
	for (size_t k = i; k-- > 1;)
		if (tokens_is_char(t, k, '(') && t->behind[k] > i && tokens_is_any(t, k - 1, words))
			return true;
	return false;
}

/* Returns whether a name before a dot may be that of a value. Scopes are ignored. */
static bool may_be_value(const struct tokens *t, const char *name)
{
	if (is_one_of(name, values) || is_one_of(name, implicit))
		return true;
	*t->looked_at += t->count;
	for (size_t i = 0; i < t->count && *t->looked_at <= LOOKED_AT_MAX; i++)
		if (names_value(t, i, name) &&
		    (is_function(t, i) || is_alias_of_value(t, i) || is_in_cast(t, i)))
			return true;
	return *t->looked_at > LOOKED_AT_MAX;
}

bool attribute_is_call(const struct tokens *t, size_t i)
{
	cleanup_free char *before = NULL;
	size_t root = i;

	if (i < 2 || !tokens_is_char(t, i - 1, '.'))
		return false;
	while (root >= 2 && tokens_is_char(t, root - 1, '.') && is_name(t, root - 2))
		root -= 2;
	if (root == i || (root > 0 && tokens_is_char(t, root - 1, '.')))
		return true;
	before = token_name(&t->lexer, &t->tokens[i - 2]);
	return may_be_value(t, before);
}
