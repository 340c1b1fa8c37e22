/* SPDX-License-Identifier: MIT */
/*
 * series.c - counts from start to stop. Debian's SQLite has no generate_series. This one knows
 * integers only and reports other values, with an expression that gives fractions or days. Overflow
 * ends the series.
 */
#include "series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLUMN_VALUE, COLUMN_START, COLUMN_STOP, COLUMN_STEP, COLUMNS };

struct cursor {
	sqlite3_vtab_cursor base;
	int64_t arguments[COLUMNS];
	int64_t value;
	int64_t row;
	bool over;
};

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
	return (struct cursor *)(void *)base;
}

static int connect(sqlite3 *db, void *data, int count, const char *const *arguments,
		   sqlite3_vtab **ret, char **ret_message)
{
	int result = sqlite3_declare_vtab(
		db, "CREATE TABLE x(value, start HIDDEN, stop HIDDEN, step HIDDEN)");

	(void)data, (void)count, (void)arguments, (void)ret_message;
	if (result != SQLITE_OK)
		return result;
	*ret = sqlite3_malloc64(sizeof(**ret));
	if (*ret == NULL)
		return SQLITE_NOMEM;
	**ret = (sqlite3_vtab){ .zErrMsg = NULL };
	return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc64(sizeof(*cursor));

	(void)vtab;
	if (cursor == NULL)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){ .over = true };
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sqlite3_free(cursor_of(base));
	return SQLITE_OK;
}

/* Passes the given arguments, in the order of their columns, to `filter`. */
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int found[COLUMNS] = { -1, -1, -1, -1 };
	int next = 1;

	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;

		if (column < COLUMN_START || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT;
		found[column] = i;
	}
	if (found[COLUMN_START] < 0 || found[COLUMN_STOP] < 0) {
		vtab->zErrMsg = sqlite3_mprintf("generate_series needs a start and a stop");
		return SQLITE_ERROR;
	}
	for (int column = COLUMN_START; column < COLUMNS; column++) {
		if (found[column] < 0)
			continue;
		info->aConstraintUsage[found[column]].argvIndex = next++;
		info->aConstraintUsage[found[column]].omit = 1;
		info->idxNum |= 1 << (column - 1);
	}
	info->estimatedCost = 1000;
	info->estimatedRows = 1000;
	return SQLITE_OK;
}

static bool is_past(const struct cursor *cursor)
{
	return cursor->arguments[COLUMN_STEP] > 0 ? cursor->value > cursor->arguments[COLUMN_STOP]
						  : cursor->value < cursor->arguments[COLUMN_STOP];
}

/* Returns true for an integer. A stop may also be between two integers. */
static bool is_integer(sqlite3_value *value, int column)
{
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_NULL:
	case SQLITE_INTEGER:
		return true;
	case SQLITE_FLOAT:
		return column == COLUMN_STOP ||
		       sqlite3_value_double(value) == (double)sqlite3_value_int64(value);
	default:
		return false;
	}
}

static int refuse(sqlite3_vtab *vtab, sqlite3_value *value)
{
	const char *way = sqlite3_value_numeric_type(value) == SQLITE_FLOAT
				  ? "value * 0.25 FROM generate_series(0, 4) gives numbers between "
				    "integers"
				  : "date('2026-01-01', value || ' days') FROM "
				    "generate_series(0, 4) gives days";

	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg =
		sqlite3_mprintf("generate_series takes integers, and '%s' is none; SELECT %s",
				sqlite3_value_text(value), way);
	return SQLITE_ERROR;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count,
		  sqlite3_value **values)
{
	struct cursor *cursor = cursor_of(base);
	int used = 0;

	(void)text;
	cursor->arguments[COLUMN_STEP] = 1;
	cursor->over = false;
	for (int column = COLUMN_START; column < COLUMNS && used < count; column++) {
		if ((plan & 1 << (column - 1)) == 0)
			continue;
		if (!is_integer(values[used], column))
			return refuse(base->pVtab, values[used]);
		cursor->over |= sqlite3_value_type(values[used]) == SQLITE_NULL;
		cursor->arguments[column] = sqlite3_value_int64(values[used++]);
	}
	if (cursor->arguments[COLUMN_STEP] == 0)
		cursor->arguments[COLUMN_STEP] = 1;
	cursor->value = cursor->arguments[COLUMN_START];
	cursor->row = 1;
	cursor->over |= is_past(cursor);
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = cursor_of(base);

	cursor->row++;
	cursor->over = __builtin_add_overflow(cursor->value, cursor->arguments[COLUMN_STEP],
					      &cursor->value) ||
		       is_past(cursor);
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return cursor_of(base)->over;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct cursor *cursor = cursor_of(base);

	sqlite3_result_int64(context,
			     column == COLUMN_VALUE ? cursor->value : cursor->arguments[column]);
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = cursor_of(base)->row;
	return SQLITE_OK;
}

int series_register(sqlite3 *db)
{
	static const sqlite3_module methods = {
		.xConnect = connect,
		.xBestIndex = best_index,
		.xDisconnect = disconnect,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = filter,
		.xNext = next,
		.xEof = at_end,
		.xColumn = column_value,
		.xRowid = row_id,
	};

	return sqlite3_create_module_v2(db, "generate_series", &methods, NULL, NULL);
}
