/* SPDX-License-Identifier: MIT */
#include "odbc_rows.h"

#include <sqlext.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { NAME_MAX_BYTES = 1024, PIECE = 16 << 10, VALUE_MAX = 64 << 20, ISO_DATE_LEN = 10 };

enum form { FORM_TEXT, FORM_INTEGER, FORM_REAL, FORM_DECIMAL, FORM_BOOLEAN, FORM_TIME, FORM_BLOB };

struct rows {
	SQLHSTMT statement;
	struct sink *sink;
	struct buf value;
	SQLSMALLINT columns;
	enum form *forms;
};

static enum form form_of(SQLSMALLINT type)
{
	switch (type) {
	case SQL_TINYINT:
	case SQL_SMALLINT:
	case SQL_INTEGER:
	case SQL_BIGINT:
		return FORM_INTEGER;
	case SQL_REAL:
	case SQL_FLOAT:
	case SQL_DOUBLE:
		return FORM_REAL;
	case SQL_DECIMAL:
	case SQL_NUMERIC:
		return FORM_DECIMAL;
	case SQL_BIT:
		return FORM_BOOLEAN;
	case SQL_TYPE_TIMESTAMP:
		return FORM_TIME;
	case SQL_BINARY:
	case SQL_VARBINARY:
	case SQL_LONGVARBINARY:
		return FORM_BLOB;
	default:
		return FORM_TEXT;
	}
}

static const char *type_name(SQLSMALLINT type)
{
	static const char *const names[] = {
		[FORM_TEXT] = "text",       [FORM_INTEGER] = "integer", [FORM_REAL] = "real",
		[FORM_DECIMAL] = "decimal", [FORM_BOOLEAN] = "boolean", [FORM_TIME] = "timestamp",
		[FORM_BLOB] = "blob",
	};

	if (type == SQL_TYPE_DATE)
		return "date";
	return type == SQL_TYPE_TIME ? "time" : names[form_of(type)];
}

static int describe(struct rows *rows, struct err *err)
{
	for (SQLSMALLINT i = 0; i < rows->columns; i++) {
		SQLCHAR name[NAME_MAX_BYTES] = "";
		SQLSMALLINT len = 0;
		SQLSMALLINT type = 0;
		SQLSMALLINT digits = 0;
		SQLSMALLINT nullable = 0;
		SQLULEN size = 0;

		if (!SQL_SUCCEEDED(SQLDescribeCol(rows->statement, (SQLUSMALLINT)(i + 1), name,
						  sizeof(name), &len, &type, &size, &digits,
						  &nullable)))
			return ODBC_ROWS_DRIVER;
		rows->forms[i] = form_of(type);
		if (sink_column(rows->sink, (const char *)name, type_name(type), err) < 0)
			return -1;
	}
	return 0;
}

/*
 * All of a value, in pieces; *ret_null for NULL. SQL_NO_TOTAL and lengths past the piece mean that
 * more follows.
 */
static int read_value(struct rows *rows, SQLUSMALLINT index, SQLSMALLINT c_type, bool *ret_null,
		      struct err *err)
{
	size_t end = c_type == SQL_C_CHAR; /* a NUL behind each piece */

	buf_clear(&rows->value);
	*ret_null = false;
	for (;;) {
		char *room = buf_reserve(&rows->value, PIECE, err);
		SQLLEN len = 0;
		SQLRETURN result;

		if (room == NULL)
			return err_set(err, ERR_LIMIT, "a value is larger than %d MB",
				       VALUE_MAX >> 20);
		result = SQLGetData(rows->statement, index, c_type, room, PIECE, &len);
		if (result == SQL_NO_DATA)
			return 0;
		if (!SQL_SUCCEEDED(result))
			return ODBC_ROWS_DRIVER;
		if (len == SQL_NULL_DATA) {
			*ret_null = true;
			return 0;
		}
		if (len >= 0 && (size_t)len <= PIECE - end) {
			buf_commit(&rows->value, (size_t)len);
			return 0;
		}
		buf_commit(&rows->value, PIECE - end);
	}
}

static void put_integer(struct sink *sink, const char *s, size_t len)
{
	char *end;
	long long value = strtoll(s, &end, 10);

	if (end == s + len && len > 0)
		sink_int(sink, value);
	else
		sink_number(sink, s, len);
}

static void put_value(struct rows *rows, enum form form)
{
	const char *s = buf_str(&rows->value);
	size_t len = rows->value.len;

	switch (form) {
	case FORM_INTEGER:
		put_integer(rows->sink, s, len);
		break;
	case FORM_REAL:
		sink_real(rows->sink, strtod(s, NULL));
		break;
	case FORM_DECIMAL:
		sink_number(rows->sink, s, len);
		break;
	case FORM_BOOLEAN:
		sink_bool(rows->sink, *s == '1' || *s == 't' || *s == 'T');
		break;
	case FORM_BLOB:
		sink_blob(rows->sink, s, len);
		break;
	case FORM_TIME:
		if (len > ISO_DATE_LEN && s[ISO_DATE_LEN] == ' ')
			rows->value.data[ISO_DATE_LEN] = 'T';
		sink_text(rows->sink, s, len);
		break;
	case FORM_TEXT:
		sink_text(rows->sink, s, len);
		break;
	}
}

static int put_row(struct rows *rows, struct err *err)
{
	for (SQLSMALLINT i = 0; i < rows->columns; i++) {
		enum form form = rows->forms[i];
		bool null;
		int result = read_value(rows, (SQLUSMALLINT)(i + 1),
					form == FORM_BLOB ? SQL_C_BINARY : SQL_C_CHAR, &null, err);

		if (result < 0)
			return result;
		if (null)
			sink_null(rows->sink);
		else
			put_value(rows, form);
	}
	return 0;
}

static int put_rows(struct rows *rows, struct err *err)
{
	bool full = false;

	while (!full) {
		SQLRETURN fetched = SQLFetch(rows->statement);
		int result;

		if (fetched == SQL_NO_DATA)
			return 0;
		if (!SQL_SUCCEEDED(fetched))
			return ODBC_ROWS_DRIVER;
		result = put_row(rows, err);
		if (result < 0)
			return result;
		if (sink_end_row(rows->sink, &full, err) < 0)
			return -1;
	}
	return 0;
}

int odbc_rows_put(SQLHSTMT statement, struct sink *sink, struct err *err)
{
	struct rows rows = { .statement = statement, .sink = sink };
	int result;

	if (!SQL_SUCCEEDED(SQLNumResultCols(statement, &rows.columns)))
		return ODBC_ROWS_DRIVER;
	if (rows.columns <= 0)
		return err_set(err, ERR_INVALID, "the query gives no rows");
	buf_init(&rows.value, VALUE_MAX);
	rows.forms = xcalloc((size_t)rows.columns, sizeof(*rows.forms));
	result = describe(&rows, err);
	if (result == 0)
		result = put_rows(&rows, err);
	free(rows.forms);
	buf_release(&rows.value);
	return result;
}
