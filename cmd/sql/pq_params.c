/* SPDX-License-Identifier: MIT */
/*
 * pq_params.c - chooses the types of parameters.
 *
 * PostgreSQL infers the type of a text. Numbers and booleans get the types of their literals:
 * untyped ones would be texts where a text is possible, and then 9 is not less than 10. Reals
 * become numeric, which loses no digit.
 */
#include "pq_params.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sql/token.h"

/* Their numbers in pg_type. */
enum { TYPE_BOOL = 16, TYPE_INT8 = 20, TYPE_INT4 = 23, TYPE_NUMERIC = 1700 };
enum { DIGITS_MIN = 15, DIGITS_MAX = 17 };

static unsigned type_of(const json_t *value)
{
	json_int_t number = json_integer_value(value);

	switch (json_typeof(value)) {
	case JSON_INTEGER:
		return number >= INT32_MIN && number <= INT32_MAX ? TYPE_INT4 : TYPE_INT8;
	case JSON_REAL:
		return TYPE_NUMERIC;
	case JSON_TRUE:
	case JSON_FALSE:
		return TYPE_BOOL;
	default:
		return 0;
	}
}

unsigned *pq_params_types(const json_t *params)
{
	unsigned *types = xcalloc(json_array_size(params) + 1, sizeof(*types));
	size_t index;
	json_t *value;

	json_array_foreach (params, index, value)
		types[index] = type_of(value);
	return types;
}

static int put_numbered(struct lexer *lexer, struct buf *out, struct err *err)
{
	struct token token;
	size_t done = 0;
	size_t count = 0;
	bool own = false;

	for (;;) {
		if (token_next(lexer, &token, err) < 0)
			return -1;
		if (token.kind == TOKEN_END)
			break;
		if (token.kind != TOKEN_PARAM)
			continue;
		own = own || lexer->text[token.at] != '?' || token.len > 1;
		buf_put(out, lexer->text + done, token.at - done);
		buf_putf(out, " $%zu ", ++count);
		done = token.at + token.len;
	}
	buf_put(out, lexer->text + done, lexer->len - done);
	return own ? err_set(err, ERR_INVALID,
			     "the place of a parameter is a ? alone, without a number")
		   : 0;
}

char *pq_params_number(const struct query *query, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct lexer lexer;

	token_start(&lexer, SQL_POSTGRESQL, query->text, query->len);
	return put_numbered(&lexer, &text, err) == 0 ? buf_steal(&text) : NULL;
}

void pq_params_real(double value, char text[PQ_REAL_SIZE])
{
	int digits = DIGITS_MIN;

	do
		(void)snprintf(text, PQ_REAL_SIZE, "%.*g", digits, value);
	while (strtod(text, NULL) != value && ++digits <= DIGITS_MAX);
	/* A numeric keeps its places: 'a' || 2.0 is a2.0. */
	if (strpbrk(text, ".e") == NULL)
		(void)snprintf(text + strlen(text), PQ_REAL_SIZE - strlen(text), ".0");
}

char *pq_params_text(const json_t *value)
{
	char real[PQ_REAL_SIZE];

	switch (json_typeof(value)) {
	case JSON_INTEGER:
		return xasprintf("%lld", (long long)json_integer_value(value));
	case JSON_REAL:
		pq_params_real(json_real_value(value), real);
		return xstrdup(real);
	case JSON_STRING:
		return xstrdup(json_string_value(value));
	case JSON_NULL:
		return NULL;
	default:
		return xstrdup(json_is_true(value) ? "t" : "f");
	}
}
