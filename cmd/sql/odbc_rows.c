/* SPDX-License-Identifier: MIT */
/*
 * odbc_rows.c - fetches rows from a driver. Rows come in blocks where the driver can, with short
 * values bound to arrays and long ones read in pieces. Elsewhere each value is read alone. How many
 * rows the driver fetches ahead adapts to the time and memory that they take: more rows need fewer
 * round trips, but a fetch cannot be cancelled.
 */
#include "odbc_rows.h"

#include <sqlext.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/util.h"

enum {
	NAME_MAX_BYTES = 1024,
	PIECE = 16 << 10,
	VALUE_MAX = 64 << 20,
	ISO_DATE_LEN = 10,
	YEAR_LEN = 4,
	TIME_MAX = 64,
	BLOCK_BYTES = 256 << 10,
	BLOCK_ROWS = 500,
	AHEAD_BYTES =
		2 << 20, /* what a driver may hold of rows, for at most this time and number: */
	AHEAD_MS = 100,
	AHEAD_ROWS = 10000,
	PSQLODBC_FETCH = 65541, /* SQL_ATTR_PGOPT_FETCH of psqlodbc's pgapifunc.h */
	SHORT_MAX = 256,        /* bytes of a value that comes with its block */
	UTF8_MAX = 4,
};

enum form { FORM_TEXT, FORM_INTEGER, FORM_REAL, FORM_DECIMAL, FORM_BOOLEAN, FORM_TIME, FORM_BLOB };

struct column {
	enum form form;
	SQLSMALLINT c_type;
	size_t width; /* of a value in `data`, with its NUL */
	char *data;   /* NULL: values are read one by one */
	SQLLEN *lens;
};

/* `s` is NULL for NULL. */
struct value {
	char *s;
	size_t len;
};

struct rows {
	SQLHSTMT statement;
	const struct odbc_rows_how *how;
	struct sink *sink;
	struct buf value; /* the last value that was read alone */
	struct column *columns;
	SQLSMALLINT count;
	SQLULEN block; /* rows that come at once */
	SQLULEN fetched;
	SQLULEN ahead; /* rows that the driver fetches */
	size_t seen_bytes;
	SQLULEN seen; /* since `looked_ms` */
	uint64_t looked_ms;
	SQLUSMALLINT *states; /* of these rows */
	char *data;
	SQLLEN *lens;
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
	case SQL_TYPE_DATE:
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

/*
 * Corrects psqlodbc's types: bit(5) is not a boolean, and money is not a number ("$1,234.50"). A
 * column of type lo has the number of a large object, which psqlodbc would read.
 */
static SQLSMALLINT true_type(const struct odbc_rows_how *how, SQLHSTMT prepared, SQLUSMALLINT index,
			     SQLSMALLINT type)
{
	bool binary = form_of(type) == FORM_BLOB;
	char name[NAME_MAX_BYTES] = "";
	SQLSMALLINT len = 0;

	if (!how->named_types || (type != SQL_BIT && form_of(type) != FORM_REAL && !binary) ||
	    !SQL_SUCCEEDED(SQLColAttribute(prepared, index, SQL_DESC_TYPE_NAME, name, sizeof(name),
					   &len, NULL)))
		return type;
	if (binary)
		return str_eq(name, "lo") ? SQL_BIGINT : type;
	return str_eq(name, "bool") || strncmp(name, "float", strlen("float")) == 0 ? type
										    : SQL_VARCHAR;
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

/*
 * Returns a width that is enough for most values; drivers report sizes of texts loosely. Numbers
 * are adjacent where they can be.
 */
static size_t width_of(const struct column *column, SQLULEN size)
{
	size_t width = SHORT_MAX / UTF8_MAX;

	if (column->c_type == SQL_C_SBIGINT)
		return sizeof(SQLBIGINT);
	if (column->form == FORM_TEXT || column->form == FORM_BLOB)
		width = size > 0 && size < SHORT_MAX / UTF8_MAX ? size * UTF8_MAX + 1 : SHORT_MAX;
	return (width + sizeof(SQLBIGINT) - 1) / sizeof(SQLBIGINT) * sizeof(SQLBIGINT);
}

static SQLSMALLINT c_type_of(const struct odbc_rows_how *how, enum form form)
{
	if (form == FORM_INTEGER && how->small_integers)
		return SQL_C_SBIGINT;
	return form == FORM_BLOB ? SQL_C_BINARY : SQL_C_CHAR;
}

static int describe(struct rows *rows, SQLHSTMT prepared, struct err *err)
{
	for (SQLSMALLINT i = 0; i < rows->count; i++) {
		struct column *column = &rows->columns[i];
		SQLCHAR name[NAME_MAX_BYTES] = "";
		SQLSMALLINT len = 0;
		SQLSMALLINT type = 0;
		SQLSMALLINT digits = 0;
		SQLSMALLINT nullable = 0;
		SQLULEN size = 0;

		if (!SQL_SUCCEEDED(SQLDescribeCol(prepared, (SQLUSMALLINT)(i + 1), name,
						  sizeof(name), &len, &type, &size, &digits,
						  &nullable)))
			return err_set(err, ERR_SYSTEM, "the driver does not tell the columns");
		type = true_type(rows->how, prepared, (SQLUSMALLINT)(i + 1), type);
		column->form = form_of(type);
		column->c_type = c_type_of(rows->how, column->form);
		column->width = width_of(column, size);
		if (sink_column(rows->sink, (const char *)name, type_name(type), err) < 0)
			return -1;
	}
	return 0;
}

/* ---- blocks ---- */

static size_t row_width(const struct rows *rows)
{
	size_t width = sizeof(*rows->states);

	for (SQLSMALLINT i = 0; i < rows->count; i++)
		width += rows->columns[i].width + sizeof(SQLLEN);
	return width;
}

static int bind_column(struct rows *rows, SQLSMALLINT index, size_t *used)
{
	struct column *column = &rows->columns[index];
	char *data = rows->data + *used;

	column->data = data;
	column->lens = rows->lens + (size_t)index * rows->block;
	*used += rows->block * column->width;
	return SQL_SUCCEEDED(SQLBindCol(rows->statement, (SQLUSMALLINT)(index + 1), column->c_type,
					data, (SQLLEN)column->width, column->lens))
		       ? 0
		       : ODBC_ROWS_DRIVER;
}

static SQLPOINTER number_of(SQLULEN n)
{
	return (SQLPOINTER)n;
}

static SQLULEN min_of(SQLULEN a, SQLULEN b)
{
	return a < b ? a : b;
}

/* Binds all columns, so that one call of the driver returns many rows. */
static int bind_all(struct rows *rows)
{
	size_t used = 0;

	rows->block = BLOCK_BYTES / row_width(rows);
	rows->block = rows->block > BLOCK_ROWS ? BLOCK_ROWS : rows->block + (rows->block == 0);
	rows->data = xcalloc(rows->block, row_width(rows));
	rows->lens = xcalloc(rows->block * (size_t)rows->count, sizeof(*rows->lens));
	rows->states = xcalloc(rows->block, sizeof(*rows->states));
	for (SQLSMALLINT i = 0; i < rows->count; i++)
		if (bind_column(rows, i, &used) < 0)
			return ODBC_ROWS_DRIVER;
	if (!SQL_SUCCEEDED(SQLSetStmtAttr(rows->statement, SQL_ATTR_ROW_ARRAY_SIZE,
					  number_of(rows->block), 0)) ||
	    !SQL_SUCCEEDED(
		    SQLSetStmtAttr(rows->statement, SQL_ATTR_ROW_STATUS_PTR, rows->states, 0)) ||
	    !SQL_SUCCEEDED(
		    SQLSetStmtAttr(rows->statement, SQL_ATTR_ROWS_FETCHED_PTR, &rows->fetched, 0)))
		return ODBC_ROWS_DRIVER;
	return 0;
}

/*
 * Sets how many rows the driver fetches at once. Driver and database wait for each other, so fewer
 * round trips are faster. But the driver holds these rows, and its fetch cannot be cancelled.
 */
static void set_ahead(struct rows *rows, SQLULEN ahead)
{
	rows->ahead = ahead;
	if (rows->how->ahead != SQL_NULL_HANDLE)
		(void)SQLSetConnectAttr(rows->how->ahead, PSQLODBC_FETCH, number_of(ahead),
					SQL_IS_INTEGER);
}

static void look_ahead(struct rows *rows)
{
	uint64_t now = clock_ms();
	SQLULEN fit;

	rows->seen += rows->fetched;
	if (rows->seen < rows->ahead)
		return;
	fit = AHEAD_BYTES / (rows->seen_bytes / rows->seen + 1);
	fit = min_of(fit, rows->seen * AHEAD_MS / (now - rows->looked_ms + 1));
	fit = min_of(fit, AHEAD_ROWS) / rows->block * rows->block;
	set_ahead(rows, fit > rows->block ? fit : rows->block);
	rows->looked_ms = now;
	rows->seen_bytes = 0;
	rows->seen = 0;
}

/* ---- values ---- */

static const char too_large[] = "a value is larger than %d MB";

/*
 * Reads a whole value in pieces and sets *ret_null for NULL. SQL_NO_TOTAL, and a length beyond the
 * piece, mean that more follows.
 */
static int read_value(struct rows *rows, SQLUSMALLINT index, SQLSMALLINT c_type, bool *ret_null,
		      struct err *err)
{
	size_t end = c_type == SQL_C_CHAR; /* each piece ends with a NUL */

	buf_clear(&rows->value);
	*ret_null = false;
	for (;;) {
		char *room = buf_reserve(&rows->value, PIECE, err);
		SQLLEN len = 0;
		SQLRETURN result;

		if (room == NULL)
			return err_set(err, ERR_LIMIT, too_large, VALUE_MAX >> 20);
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

/*
 * Converts to ISO 8601: FreeTDS writes years without zeros, and all drivers write a blank before
 * the time.
 */
static void put_time(struct rows *rows, const char *s, size_t len)
{
	static const char zeros[] = "000";
	size_t digits = strspn(s, "0123456789");
	size_t missing =
		digits > 0 && digits < YEAR_LEN && s[digits] == '-' ? YEAR_LEN - digits : 0;
	char iso[TIME_MAX];

	if (len + missing >= sizeof(iso)) {
		sink_text(rows->sink, s, len);
		return;
	}
	memcpy(iso, zeros, missing);
	memcpy(iso + missing, s, len);
	if (len + missing > ISO_DATE_LEN + 1 && iso[ISO_DATE_LEN] == ' ' &&
	    iso[ISO_DATE_LEN + 1] >= '0' && iso[ISO_DATE_LEN + 1] <= '9')
		iso[ISO_DATE_LEN] = 'T';
	sink_text(rows->sink, iso, len + missing);
}

static void put_value(struct rows *rows, enum form form, const char *s, size_t len)
{
	switch (form) {
	case FORM_INTEGER:
		sink_integer(rows->sink, s, len);
		break;
	case FORM_REAL:
		if (rows->how->exact_reals)
			sink_exact_real(rows->sink, s, len);
		else
			sink_real(rows->sink, strtod(s, NULL));
		break;
	case FORM_DECIMAL:
		sink_number(rows->sink, s, len);
		break;
	case FORM_BOOLEAN:
		/* MariaDB's driver returns the bit itself as text. */
		sink_bool(rows->sink, *s == '1' || *s == 't' || *s == 'T' || *s == '\1');
		break;
	case FORM_BLOB:
		sink_blob(rows->sink, s, len);
		break;
	case FORM_TIME:
		put_time(rows, s, len);
		break;
	case FORM_TEXT:
		sink_text(rows->sink, s, len);
		break;
	}
}

/* Reads a value that did not come with its row. */
static int ask_value(struct rows *rows, SQLSMALLINT index, SQLULEN row, struct value *ret,
		     struct err *err)
{
	const struct column *column = &rows->columns[index];
	bool null;
	int result;

	if (column->data != NULL &&
	    !SQL_SUCCEEDED(SQLSetPos(rows->statement, row + 1, SQL_POSITION, SQL_LOCK_NO_CHANGE)))
		return ODBC_ROWS_DRIVER;
	result = read_value(rows, (SQLUSMALLINT)(index + 1), column->c_type, &null, err);
	if (result < 0)
		return result;
	*ret = (struct value){ .s = null ? NULL : rows->value.data, .len = rows->value.len };
	return 0;
}

static int take_value(struct rows *rows, SQLSMALLINT index, SQLULEN row, struct value *ret,
		      struct err *err)
{
	const struct column *column = &rows->columns[index];
	SQLLEN len = column->data != NULL ? column->lens[row] : SQL_NO_TOTAL;

	*ret = (struct value){ .s = NULL };
	if (len == SQL_NULL_DATA)
		return 0;
	if (len < 0 || ((size_t)len >= column->width && column->c_type != SQL_C_SBIGINT)) {
		int result = ask_value(rows, index, row, ret, err);

		rows->seen_bytes += ret->len;
		return result;
	}
	*ret = (struct value){ .s = column->data + row * column->width, .len = (size_t)len };
	rows->seen_bytes += (size_t)len;
	return 0;
}

static void put_small(struct rows *rows, const char *s)
{
	SQLBIGINT value;

	memcpy(&value, s, sizeof(value));
	sink_int(rows->sink, value);
}

static int put_row(struct rows *rows, SQLULEN row, struct err *err)
{
	for (SQLSMALLINT i = 0; i < rows->count; i++) {
		struct value value;
		int result = take_value(rows, i, row, &value, err);

		if (result < 0)
			return result;
		if (value.s == NULL)
			sink_null(rows->sink);
		else if (rows->columns[i].c_type == SQL_C_SBIGINT)
			put_small(rows, value.s);
		else
			put_value(rows, rows->columns[i].form, value.s, value.len);
	}
	return 0;
}

/* ---- all rows ---- */

static int put_block(struct rows *rows, bool *ret_full, struct err *err)
{
	for (SQLULEN row = 0; row < rows->fetched && !*ret_full; row++) {
		int result;

		if (rows->states != NULL && rows->states[row] == SQL_ROW_ERROR)
			return ODBC_ROWS_DRIVER;
		result = put_row(rows, row, err);
		if (result < 0)
			return result;
		if (sink_end_row(rows->sink, ret_full, err) < 0)
			return -1;
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
		result = put_block(rows, &full, err);
		if (result < 0)
			return result;
		look_ahead(rows);
	}
	return 0;
}

int odbc_rows_put(SQLHSTMT statement, const struct odbc_rows_how *how, struct sink *sink,
		  struct err *err)
{
	struct rows rows = {
		.statement = statement, .how = how, .sink = sink, .block = 1, .fetched = 1
	};
	int result;

	if (!SQL_SUCCEEDED(SQLNumResultCols(statement, &rows.count)))
		return ODBC_ROWS_DRIVER;
	if (rows.count <= 0)
		return err_set(err, ERR_INVALID, "the query has no columns");
	buf_init(&rows.value, VALUE_MAX);
	rows.columns = xcalloc((size_t)rows.count, sizeof(*rows.columns));
	result = describe(&rows, statement, err);
	if (result == 0 && how->blocks)
		result = bind_all(&rows);
	rows.looked_ms = clock_ms();
	rows.ahead = ODBC_ROWS_FEW;
	if (result == 0)
		result = put_rows(&rows, err);
	set_ahead(&rows, ODBC_ROWS_FEW);
	free(rows.columns);
	free(rows.data);
	free(rows.lens);
	free(rows.states);
	buf_release(&rows.value);
	return result;
}
