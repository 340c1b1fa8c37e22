/* SPDX-License-Identifier: MIT */
/*
 * pq_rows.c - passes PostgreSQL's values on by type. Values arrive as PostgreSQL's texts and are
 * passed on by type, so exact numbers stay exact. Only bytea and timestamps change their form:
 * bytes are decoded in place, and ISO 8601 has a T before the time.
 */
#include "pq_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "warnings.h"

enum { VALUE_MAX = 64 << 20, ISO_DATE_LEN = 10 };

/* Their numbers in pg_type. */
enum {
	TYPE_BOOL = 16,
	TYPE_BYTEA = 17,
	TYPE_INT8 = 20,
	TYPE_INT2 = 21,
	TYPE_INT4 = 23,
	TYPE_OID = 26,
	TYPE_XID = 28,
	TYPE_FLOAT4 = 700,
	TYPE_FLOAT8 = 701,
	TYPE_DATE = 1082,
	TYPE_TIME = 1083,
	TYPE_TIMESTAMP = 1114,
	TYPE_TIMESTAMPTZ = 1184,
	TYPE_NUMERIC = 1700,
};

struct rows {
	struct sink *sink;
	struct warnings warnings;
	unsigned *types; /* of the columns */
	int count;
};

/* ---- values ---- */

/* Returns a digit's value. PostgreSQL writes no others than 0-9 and a-f. */
static unsigned int hex_digit(char c)
{
	return c >= 'a' ? (unsigned char)(c - 'a' + 10) & 15 : (unsigned char)(c - '0') & 15;
}

/* Decodes \x00ff in place. */
static void put_bytes(struct sink *sink, char *s, size_t len)
{
	size_t out = 0;

	for (size_t i = 2; i + 1 < len; i += 2)
		s[out++] = (char)(hex_digit(s[i]) << 4 | hex_digit(s[i + 1]));
	sink_blob(sink, s, out);
}

/* Converts to ISO 8601: PostgreSQL writes a blank before the time. */
static void put_moment(struct sink *sink, char *s, size_t len)
{
	if (len > ISO_DATE_LEN + 1 && s[ISO_DATE_LEN] == ' ' && s[ISO_DATE_LEN + 1] >= '0' &&
	    s[ISO_DATE_LEN + 1] <= '9')
		s[ISO_DATE_LEN] = 'T';
	sink_text(sink, s, len);
}

static void put_value(struct sink *sink, unsigned type, char *s, size_t len)
{
	switch (type) {
	case TYPE_BOOL:
		sink_bool(sink, *s == 't');
		break;
	case TYPE_INT2:
	case TYPE_INT4:
	case TYPE_INT8:
	case TYPE_OID:
	case TYPE_XID:
		sink_integer(sink, s, len);
		break;
	case TYPE_FLOAT4:
	case TYPE_FLOAT8:
		sink_exact_real(sink, s, len);
		break;
	case TYPE_NUMERIC:
		sink_number(sink, s, len);
		break;
	case TYPE_BYTEA:
		put_bytes(sink, s, len);
		break;
	case TYPE_DATE:
	case TYPE_TIMESTAMP:
	case TYPE_TIMESTAMPTZ:
		put_moment(sink, s, len);
		break;
	default: /* also bit and money: "$1,234.50" is not a number */
		sink_text(sink, s, len);
		break;
	}
}

static const char *type_name(unsigned type)
{
	switch (type) {
	case TYPE_BOOL:
		return "boolean";
	case TYPE_INT2:
	case TYPE_INT4:
	case TYPE_INT8:
	case TYPE_OID:
	case TYPE_XID:
		return "integer";
	case TYPE_FLOAT4:
	case TYPE_FLOAT8:
		return "real";
	case TYPE_NUMERIC:
		return "decimal";
	case TYPE_BYTEA:
		return "blob";
	case TYPE_DATE:
		return "date";
	case TYPE_TIME:
		return "time";
	case TYPE_TIMESTAMP:
	case TYPE_TIMESTAMPTZ:
		return "timestamp";
	default:
		return "text";
	}
}

/* ---- results ---- */

static int take_columns(void *data, const struct pq_column *columns, int count, struct err *err)
{
	struct rows *rows = data;

	if (count == 0)
		return err_set(err, ERR_INVALID, "the query has no columns");
	rows->count = count;
	rows->types = xcalloc((size_t)count, sizeof(*rows->types));
	for (int i = 0; i < count; i++) {
		rows->types[i] = columns[i].type;
		if (sink_column(rows->sink, columns[i].name, type_name(columns[i].type), err) < 0)
			return -1;
	}
	return 0;
}

static int take_row(void *data, struct pq_value *values, bool *ret_full, struct err *err)
{
	struct rows *rows = data;

	for (int i = 0; i < rows->count; i++) {
		if (values[i].len > VALUE_MAX)
			return err_set(err, ERR_LIMIT, "a value is larger than %d MB",
				       VALUE_MAX >> 20);
		if (values[i].s == NULL)
			sink_null(rows->sink);
		else
			put_value(rows->sink, rows->types[i], values[i].s, values[i].len);
	}
	return sink_end_row(rows->sink, ret_full, err);
}

static void take_notice(void *data, const char *level, const char *state, const char *message)
{
	struct rows *rows = data;

	warnings_put(&rows->warnings, strcmp(level, "WARNING") == 0 ? "warns" : "says", message,
		     state);
}

int pq_rows_run(const struct pq_query *query, struct sink *sink, char *ret_state, struct err *err)
{
	struct rows rows = { .sink = sink, .warnings = { .sink = sink } };
	const struct pq_taker taker = {
		.columns = take_columns, .row = take_row, .notice = take_notice, .data = &rows
	};
	int result = pq_run(query, &taker, ret_state, err);

	warnings_end(&rows.warnings);
	free(rows.types);
	return result;
}
