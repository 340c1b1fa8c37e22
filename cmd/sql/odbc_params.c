/* SPDX-License-Identifier: MIT */
/*
 * odbc_params.c - counts and binds parameters. Values are bound by their JSON type. Reals are bound
 * as text to PostgreSQL, where a double would lose the type numeric, and text to SQL Server as
 * Unicode where it has to be. Placeholders are counted from the tokens as well as by the driver,
 * because not every driver can count.
 */
#include "odbc_params.h"

#include <sqlext.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sql/token.h"

enum {
	PLAIN_MAX = 4000,
	COUNT_MAX = INT16_MAX,      /* drivers count them in 16 bits */
	COUNT_MAX_POSTGRESQL = 7498 /* libpq reads no longer list of types */
};

/* Returns a string for ODBC, which takes strings that are not const and does not write to them. */
static SQLPOINTER text_of(const char *s)
{
	return (SQLPOINTER)(uintptr_t)s;
}

/* Returns a type of Unicode text for SQL Server, which reads other text by its own code page. */
static SQLSMALLINT type_of_text(enum sql_dialect dialect, const char *s, size_t len)
{
	bool wide = false;

	for (size_t i = 0; dialect == SQL_TSQL && i < len; i++)
		wide = wide || (unsigned char)s[i] >= 0x80;
	if (len > PLAIN_MAX)
		return wide ? SQL_WLONGVARCHAR : SQL_LONGVARCHAR;
	return wide ? SQL_WVARCHAR : SQL_VARCHAR;
}

static SQLRETURN bind_text(SQLHSTMT statement, SQLUSMALLINT index, enum sql_dialect dialect,
			   const json_t *value, struct odbc_param *param)
{
	const char *s = json_string_value(value);
	size_t len = json_string_length(value);

	param->len = (SQLLEN)len;
	return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_CHAR,
				type_of_text(dialect, s, len), len > 0 ? len : 1, 0, text_of(s),
				(SQLLEN)len, &param->len);
}

static SQLRETURN bind_real(SQLHSTMT statement, SQLUSMALLINT index, enum sql_dialect dialect,
			   double value, struct odbc_param *param)
{
	if (dialect == SQL_POSTGRESQL) {
		pq_params_real(value, param->digits);
		param->len = (SQLLEN)strlen(param->digits);
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_NUMERIC,
					sizeof(param->digits), 0, param->digits, 0, &param->len);
	}
	param->real = value;
	return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_DOUBLE, SQL_DOUBLE, 0, 0,
				&param->real, 0, &param->len);
}

static SQLRETURN bind(SQLHSTMT statement, SQLUSMALLINT index, enum sql_dialect dialect,
		      const json_t *value, struct odbc_param *param)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		param->integer = json_integer_value(value);
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_SBIGINT,
					SQL_BIGINT, 0, 0, &param->integer, 0, &param->len);
	case JSON_REAL:
		return bind_real(statement, index, dialect, json_real_value(value), param);
	case JSON_TRUE:
	case JSON_FALSE:
		param->truth = json_is_true(value);
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_BIT, SQL_BIT, 0, 0,
					&param->truth, 0, &param->len);
	case JSON_STRING:
		return bind_text(statement, index, dialect, value, param);
	default:
		param->len = SQL_NULL_DATA;
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
					1, 0, NULL, 0, &param->len);
	}
}

/* Returns what else the text may have been meant for. */
static const char *hint(enum sql_dialect dialect, bool too_few)
{
	if (!too_few)
		return "; the place of each is a ?";
	if (dialect == SQL_POSTGRESQL)
		return "; each ? is one, for PostgreSQL's operators ?, ?| and ?& write "
		       "jsonb_exists(a, b), jsonb_exists_any(a, b) and jsonb_exists_all(a, b)";
	return "";
}

/* Counts placeholders. The database reports a text that cannot be read. */
static size_t count_places(enum sql_dialect dialect, const struct query *query)
{
	struct lexer lexer;
	struct token token;
	struct err unused;
	size_t count = 0;

	token_start(&lexer, dialect, query->text, query->len);
	while (token_next(&lexer, &token, &unused) == 0 && token.kind != TOKEN_END)
		count += token.kind == TOKEN_PARAM && query->text[token.at] == '?';
	return count;
}

/* Rows follow VALUES: brackets, and commas between them. */
bool odbc_params_in_values(const struct query *query)
{
	struct lexer lexer;
	struct token token;
	struct err unused;
	bool values = false;
	size_t depth = 0;

	token_start(&lexer, SQL_MYSQL, query->text, query->len);
	while (token_next(&lexer, &token, &unused) == 0 && token.kind != TOKEN_END) {
		if (values && token.kind == TOKEN_PARAM && query->text[token.at] == '?')
			return true;
		if (token_is_char(&lexer, &token, '('))
			depth += values;
		else if (token_is_char(&lexer, &token, ')') && depth > 0)
			depth--;
		else if (depth == 0 && !token_is_char(&lexer, &token, ','))
			values = token_is(&lexer, &token, "VALUES");
	}
	return false;
}

int odbc_params_limit(enum sql_dialect dialect, const struct query *query, struct err *err)
{
	size_t most = dialect == SQL_POSTGRESQL ? COUNT_MAX_POSTGRESQL : COUNT_MAX;
	size_t count = count_places(dialect, query);

	if (count <= most)
		return 0;
	return err_set(err, ERR_LIMIT, "the query has %zu parameters, more than %zu%s", count, most,
		       dialect == SQL_POSTGRESQL
			       ? "; many values are one as an array: id = ANY(?::int[]) with "
				 "\"{1,2,3}\""
			       : "");
}

static int match(enum sql_dialect dialect, size_t wanted, const json_t *params, struct err *err)
{
	size_t given = json_array_size(params);

	if (wanted == given)
		return 0;
	return err_set(err, ERR_INVALID, "the query has %zu parameter%s, params has %zu%s", wanted,
		       wanted == 1 ? "" : "s", given, hint(dialect, given < wanted));
}

int odbc_params_count(SQLHSTMT statement, enum sql_dialect dialect, const json_t *params,
		      struct err *err)
{
	SQLSMALLINT wanted = 0;

	if (!SQL_SUCCEEDED(SQLNumParams(statement, &wanted)))
		return 0;
	return match(dialect, (size_t)wanted, params, err);
}

int odbc_params_match(enum sql_dialect dialect, const struct query *query, struct err *err)
{
	return match(dialect, count_places(dialect, query), query->params, err);
}

/* Drivers cut a text at U+0000. */
static int check_text(const json_t *value, size_t index, struct err *err)
{
	const char *s = json_string_value(value);

	if (s == NULL || strlen(s) == json_string_length(value))
		return 0;
	return err_set(err, ERR_INVALID,
		       "params[%zu] has the character U+0000, where the database's driver would "
		       "cut it",
		       index);
}

int odbc_params_check(const json_t *params, struct err *err)
{
	size_t index;
	json_t *value;

	json_array_foreach (params, index, value)
		if (check_text(value, index, err) < 0)
			return -1;
	return 0;
}

int odbc_params_bind(SQLHSTMT statement, enum sql_dialect dialect, const json_t *params,
		     struct odbc_param *slots, struct err *err)
{
	size_t index;
	json_t *value;

	if (odbc_params_count(statement, dialect, params, err) < 0 ||
	    odbc_params_check(params, err) < 0)
		return -1;
	json_array_foreach (params, index, value)
		if (!SQL_SUCCEEDED(bind(statement, (SQLUSMALLINT)(index + 1), dialect, value,
					&slots[index])))
			return ODBC_PARAMS_DRIVER;
	return 0;
}
