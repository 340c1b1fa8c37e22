/* SPDX-License-Identifier: MIT */
/*
 * As psqlodbc has them: PostgreSQL finds out what a text, a whole number or a truth is meant as. A
 * number with a fraction is a double, as PostgreSQL would read it as an integer beside one. Of a
 * double that is cast to numeric it keeps 15 digits, and all of a text: there it is one.
 */
#include "pq_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "sql/token.h"

/* pg_type's number of it. */
enum { TYPE_FLOAT8 = 701 };
enum { DIGITS_MIN = 15, DIGITS_MAX = 17 };

/* What cannot be read is the end. */
static struct token next(struct lexer *lexer)
{
	struct token token = { .kind = TOKEN_END };
	struct err err;

	if (token_next(lexer, &token, &err) < 0)
		token = (struct token){ .kind = TOKEN_END };
	return token;
}

static bool is_next(struct lexer *lexer, const char *word)
{
	struct token token = next(lexer);

	return token.len == strlen(word) &&
	       (token_is(lexer, &token, word) || token_is_char(lexer, &token, *word));
}

/* Behind a parameter: AS NUMERIC of a CAST, or ::numeric. `lexer` is a copy. */
static bool is_numeric(struct lexer lexer, bool in_cast)
{
	static const char *const names[] = { "numeric", "decimal", "dec" };
	bool casts = is_next(&lexer, in_cast ? "AS" : ":") && (in_cast || is_next(&lexer, ":"));
	struct token type;

	if (!casts)
		return false;
	type = next(&lexer);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (token_is(&lexer, &type, names[i]))
			return true;
	return false;
}

unsigned *pq_params_types(const struct query *query)
{
	size_t count = json_array_size(query->params);
	unsigned *types = xcalloc(count + 1, sizeof(*types));
	struct lexer lexer;
	struct token token;
	bool cast = false;
	size_t index = 0;

	token_start(&lexer, SQL_POSTGRESQL, query->text, query->len);
	while ((token = next(&lexer)).kind != TOKEN_END && index < count) {
		bool is_open = token_is_char(&lexer, &token, '(');

		if (token.kind == TOKEN_PARAM && query->text[token.at] == '?') {
			bool real = json_is_real(json_array_get(query->params, index));

			types[index++] = real && !is_numeric(lexer, cast) ? TYPE_FLOAT8 : 0;
		}
		cast = token_is(&lexer, &token, "CAST") || (cast && is_open);
	}
	return types;
}

/* The shortest text that reads back as the same number. */
static char *real_text(double value)
{
	char *text = xasprintf("%.*g", DIGITS_MIN, value);

	for (int digits = DIGITS_MIN + 1; digits <= DIGITS_MAX && strtod(text, NULL) != value;
	     digits++) {
		free(text);
		text = xasprintf("%.*g", digits, value);
	}
	return text;
}

char *pq_params_text(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		return xasprintf("%lld", (long long)json_integer_value(value));
	case JSON_REAL:
		return real_text(json_real_value(value));
	case JSON_STRING:
		return xstrdup(json_string_value(value));
	case JSON_NULL:
		return NULL;
	default:
		return xstrdup(json_is_true(value) ? "1" : "0");
	}
}
