/* SPDX-License-Identifier: MIT */
/*
 * module.c - the virtual table of a file: plans, cursors and the columns that a query needs.
 *
 * SQLite makes no index of its own for a virtual table, and sorts to group. So this module looks
 * rows up and orders them itself. xBestIndex passes its plan to xFilter as a text: "?N:F?M:G" finds
 * rows by columns N and M with F and G of enum lookup_flag, "=N,M" orders by columns N and M, and
 * "" reads all rows.
 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lookup.h"
#include "row_order.h"
#include "sqlite.h"

enum {
	ROWS_AHEAD = 16, /* between the row that SQLite reads and the row that is prefetched */
	SCANS_MAX = 16,  /* of all rows by one cursor, when memory for an index is exhausted */
};

struct module {
	module_find *find;
	void *data;
};

struct vtab {
	sqlite3_vtab base;
	struct sheet *sheet;
	struct vtab *next;
};

/* All connected tables. */
static struct vtab *vtabs;

struct cursor {
	sqlite3_vtab_cursor base;
	struct sheet *sheet;
	const uint32_t *order;    /* the order of rows; NULL for file order */
	struct lookup_rows found; /* the rows are a chain if it has one */
	size_t at;                /* index in the order, or the row itself */
	unsigned scans;
};

/* Returns the table of its base, which SQLite requires as the first member. */
static struct vtab *vtab_of(sqlite3_vtab *base)
{
	return (struct vtab *)(void *)base;
}

static struct cursor *cursor_of(sqlite3_vtab_cursor *base)
{
	return (struct cursor *)(void *)base;
}

/* ---- the table ---- */

static void put_quoted(struct buf *out, const char *name)
{
	buf_puts(out, "\"");
	for (; *name != '\0'; name++)
		buf_put(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
	buf_puts(out, "\"");
}

static void put_columns(struct buf *out, const struct sheet *sheet)
{
	static const char *const types[] = {
		[INFER_TYPE_TEXT] = "TEXT",
		[INFER_TYPE_INTEGER] = "INTEGER",
		[INFER_TYPE_REAL] = "REAL",
		[INFER_TYPE_BOOLEAN] = "BOOLEAN",
	};

	for (size_t i = 0; i < sheet->count; i++) {
		buf_puts(out, i == 0 ? "(" : ", ");
		put_quoted(out, sheet->columns[i].name);
		buf_putf(out, " %s", types[sheet->columns[i].verdict.type]);
	}
	buf_puts(out, ")");
}

/* Connects a table. `arguments`: the names of module, database and table, then the module's own. */
static int connect(sqlite3 *db, void *data, int count, const char *const *arguments,
		   sqlite3_vtab **ret, char **ret_message)
{
	const struct module *module = data;
	struct sheet *sheet = count > 2 ? module->find(module->data, arguments[2]) : NULL;
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);
	struct vtab *vtab;

	if (sheet == NULL) {
		*ret_message = sqlite3_mprintf("there is no such file");
		return SQLITE_ERROR;
	}
	buf_puts(&sql, "CREATE TABLE x");
	put_columns(&sql, sheet);
	if (sqlite3_declare_vtab(db, buf_str(&sql)) != SQLITE_OK)
		return SQLITE_ERROR;
	vtab = sqlite3_malloc64(sizeof(*vtab));
	if (vtab == NULL)
		return SQLITE_NOMEM;
	*vtab = (struct vtab){ .sheet = sheet, .next = vtabs };
	vtabs = vtab;
	*ret = &vtab->base;
	return SQLITE_OK;
}

/*
 * Creates a table. It must differ from `connect`: otherwise "csv" itself would be a table in every
 * schema, as in sales.csv.
 */
static int create(sqlite3 *db, void *data, int count, const char *const *arguments,
		  sqlite3_vtab **ret, char **ret_message)
{
	return connect(db, data, count, arguments, ret, ret_message);
}

static int disconnect(sqlite3_vtab *base)
{
	struct vtab **at = &vtabs;

	while (*at != vtab_of(base))
		at = &(*at)->next;
	*at = vtab_of(base)->next;
	sqlite3_free(vtab_of(base));
	return SQLITE_OK;
}

const struct sheet *module_opened(const char *name)
{
	void *opened = NULL;

	if (sscanf(name, "vtab:%p", &opened) != 1)
		return NULL;
	for (const struct vtab *vtab = vtabs; vtab != NULL; vtab = vtab->next)
		if (vtab == opened)
			return vtab->sheet;
	return NULL;
}

/* ---- the plan ---- */

/*
 * Marks the used columns as wanted. The last bit stands for all further columns: of these, the
 * columns that the query names are marked.
 */
static void want(struct sheet *sheet, sqlite3_uint64 used)
{
	for (size_t i = 0; i < sheet->count; i++) {
		bool single = i < MODULE_SINGLE_COLUMNS;

		if ((used >> (single ? i : MODULE_SINGLE_COLUMNS) & 1) != 0 &&
		    (single || sheet->columns[i].named))
			sheet->columns[i].wanted = true;
	}
}

/* Returns false for LIMIT and OFFSET, which come as constraints without a column. */
static bool is_comparison(const struct sqlite3_index_constraint *constraint)
{
	return constraint->iColumn >= 0 && constraint->op != SQLITE_INDEX_CONSTRAINT_LIMIT &&
	       constraint->op != SQLITE_INDEX_CONSTRAINT_OFFSET;
}

/* Marks texts that are compared with a number. */
static void note_comparisons(struct sheet *sheet, sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		sqlite3_value *value;

		if (!is_comparison(&info->aConstraint[i]) ||
		    sheet->columns[column].verdict.type != INFER_TYPE_TEXT ||
		    sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK)
			continue;
		if (sqlite3_value_type(value) == SQLITE_INTEGER ||
		    sqlite3_value_type(value) == SQLITE_FLOAT)
			sheet->columns[column].marks |= COLUMN_NUMBERED;
	}
}

/* Values of IN come converted to the column's type, and would no longer find '007' as 7. */
static bool is_in_text(const struct sheet *sheet, sqlite3_index_info *info, int constraint)
{
	const struct column *column = &sheet->columns[info->aConstraint[constraint].iColumn];

	return column->verdict.type == INFER_TYPE_TEXT &&
	       (column->paired || sqlite3_vtab_in(info, constraint, -1));
}

/* Returns true when rows can be found by the constraint. Sets *ret_flags (enum lookup_flag). */
static bool is_findable(const struct sheet *sheet, sqlite3_index_info *info, int constraint,
			unsigned *ret_flags)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[constraint];
	bool is = c->op == SQLITE_INDEX_CONSTRAINT_IS;
	const char *collation;
	bool caseless;

	if (!c->usable || !(is || c->op == SQLITE_INDEX_CONSTRAINT_EQ) || c->iColumn < 0 ||
	    c->iColumn >= MODULE_SINGLE_COLUMNS)
		return false;
	collation = sqlite3_vtab_collation(info, constraint);
	caseless = sqlite3_stricmp(collation, "NOCASE") == 0;
	if ((!caseless && sqlite3_stricmp(collation, "BINARY") != 0) ||
	    is_in_text(sheet, info, constraint))
		return false;
	*ret_flags = (is ? LOOKUP_NULLS : 0U) | (caseless ? LOOKUP_CASELESS : 0U);
	return true;
}

/* The constraints by which rows are found. */
struct choice {
	int constraints[LOOKUP_COLUMNS_MAX];
	unsigned flags[LOOKUP_COLUMNS_MAX];
	int count;
};

/* Chooses all usable constraints except IN: SQLite looks up once for each of its values. */
static void choose_constraints(const struct sheet *sheet, sqlite3_index_info *info,
			       struct choice *ret)
{
	int in = -1;
	unsigned flags;
	unsigned in_flags = 0;

	ret->count = 0;
	for (int i = 0; i < info->nConstraint && ret->count < LOOKUP_COLUMNS_MAX; i++) {
		if (!is_findable(sheet, info, i, &flags))
			continue;
		if (!sqlite3_vtab_in(info, i, -1)) {
			ret->constraints[ret->count] = i;
			ret->flags[ret->count++] = flags;
		} else if (in < 0) {
			in = i;
			in_flags = flags;
		}
	}
	if (ret->count == 0 && in >= 0)
		*ret = (struct choice){ .constraints = { in }, .flags = { in_flags }, .count = 1 };
}

/* Returns the plan that finds rows by the constraints. The caller frees it. */
static char *use_constraints(sqlite3_index_info *info, const struct choice *choice)
{
	struct buf plan = BUF_INIT(BUF_UNBOUNDED);
	double rows = (double)info->estimatedRows;

	for (int i = 0; i < choice->count; i++) {
		info->aConstraintUsage[choice->constraints[i]].argvIndex = i + 1;
		buf_putf(&plan, "?%d:%u", info->aConstraint[choice->constraints[i]].iColumn,
			 choice->flags[i]);
		rows = rows < 100 ? 2 : rows / 50;
	}
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = 5 + rows;
	return buf_steal(&plan);
}

/*
 * Returns the columns to order by when SQLite only needs equal rows together; NULL otherwise.
 * SQLite also relies on the order where GROUP BY and ORDER BY name the same columns, so descending
 * order is left to it.
 */
static char *choose_order(sqlite3_index_info *info)
{
	struct buf list = BUF_INIT(BUF_UNBOUNDED);
	int distinct = sqlite3_vtab_distinct(info);

	if (info->nOrderBy == 0 || (distinct != 1 && distinct != 2))
		return NULL;
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;

		if (column < 0 || column >= MODULE_SINGLE_COLUMNS || info->aOrderBy[i].desc) {
			buf_release(&list);
			return NULL;
		}
		buf_putf(&list, "%s%d", i == 0 ? "=" : ",", column);
	}
	return buf_steal(&list);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct sheet *sheet = vtab_of(base)->sheet;
	cleanup_free char *plan = NULL;
	struct choice choice;

	sheet->used = true;
	want(sheet, info->colUsed);
	note_comparisons(sheet, info);
	info->estimatedRows = (sqlite3_int64)sheet->rows + 1;
	info->estimatedCost = (double)info->estimatedRows;
	choose_constraints(sheet, info, &choice);
	if (choice.count > 0)
		plan = use_constraints(info, &choice);
	else
		plan = choose_order(info);
	info->orderByConsumed = choice.count == 0 && plan != NULL;
	info->idxStr = sqlite3_mprintf("%s", plan != NULL ? plan : "");
	info->needToFreeIdxStr = 1;
	return info->idxStr != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- rows ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc64(sizeof(*cursor));

	if (cursor == NULL)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){ .sheet = vtab_of(base)->sheet };
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sqlite3_free(cursor_of(base));
	return SQLITE_OK;
}

static int fail(struct cursor *cursor, const struct err *err)
{
	sqlite3_vtab *vtab = cursor->base.pVtab;

	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", err->msg);
	return err->code == ERR_LIMIT ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* Columns that SQLite reports together are read when a value of them is needed. */
static int need(struct cursor *cursor, size_t column)
{
	struct err err;

	if (cursor->sheet->columns[column].loaded)
		return SQLITE_OK;
	cursor->sheet->columns[column].wanted = true;
	return sheet_fetch(cursor->sheet, &err) < 0 ? fail(cursor, &err) : SQLITE_OK;
}

/* Moves to a row, given plus one. At the end of the chain the doubtful rows follow. */
static void go_to(struct cursor *cursor, uint32_t row)
{
	if (row == 0) {
		row = cursor->found.doubtful;
		cursor->found.doubtful = 0;
	}
	cursor->at = row > 0 ? row - 1 : cursor->sheet->rows;
}

/* Reads the columns, flags and values of a plan that finds rows. */
static int read_wants(struct cursor *cursor, const char *plan, int count, sqlite3_value **values,
		      struct lookup_want wants[LOOKUP_COLUMNS_MAX])
{
	int result = SQLITE_OK;

	for (int i = 0; i < count && result == SQLITE_OK; i++) {
		char *end;

		wants[i].column = (unsigned)strtoul(plan + 1, &end, 10);
		wants[i].flags = (unsigned)strtoul(end + 1, &end, 10);
		wants[i].value = values[i];
		plan = end;
		result = need(cursor, wants[i].column);
	}
	return result;
}

/*
 * Finds rows that equal the values. Reads all rows when that is unknown, and also, for a few
 * values, when an index does not fit into memory.
 */
static int find_rows(struct cursor *cursor, const char *plan, int count, sqlite3_value **values)
{
	struct lookup_want wants[LOOKUP_COLUMNS_MAX];
	int result = read_wants(cursor, plan, count, values, wants);
	struct err err;

	if (result != SQLITE_OK)
		return result;
	if (lookup_find(cursor->sheet, wants, (size_t)count, &cursor->found, &err) < 0)
		return cursor->scans++ < SCANS_MAX ? SQLITE_OK : fail(cursor, &err);
	if (!cursor->found.all)
		go_to(cursor, cursor->found.first);
	return SQLITE_OK;
}

static int order_rows(struct cursor *cursor, const char *columns)
{
	int result = SQLITE_OK;

	for (const char *at = columns; at != NULL && result == SQLITE_OK;) {
		result = need(cursor, strtoul(at, NULL, 10));
		at = strchr(at, ',');
		at = at != NULL ? at + 1 : NULL;
	}
	if (result != SQLITE_OK)
		return result;
	cursor->order = row_order_get(cursor->sheet, columns);
	return cursor->order != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count,
		  sqlite3_value **values)
{
	struct cursor *cursor = cursor_of(base);

	(void)number;
	cursor->at = 0;
	cursor->order = NULL;
	cursor->found = (struct lookup_rows){ .all = true };
	if (*plan == '?')
		return find_rows(cursor, plan, count, values);
	return *plan == '=' ? order_rows(cursor, plan + 1) : SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = cursor_of(base);

	if (cursor->found.all)
		cursor->at++;
	else
		go_to(cursor, cursor->found.nexts[cursor->at]);
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = cursor_of(base);

	return cursor->at >= cursor->sheet->rows;
}

static size_t row_of(const struct cursor *cursor)
{
	return cursor->order != NULL ? cursor->order[cursor->at] : cursor->at;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = cursor_of(base);
	size_t ahead = cursor->at + ROWS_AHEAD;
	int result = need(cursor, (size_t)column);

	if (result != SQLITE_OK)
		return result;
	if (cursor->order != NULL && ahead < cursor->sheet->rows)
		column_expect(&cursor->sheet->columns[column], cursor->order[ahead]);
	column_result(&cursor->sheet->columns[column], row_of(cursor), context);
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)row_of(cursor_of(base)) + 1;
	return SQLITE_OK;
}

/* ---- the module ---- */

static const sqlite3_module methods = {
	.xCreate = create,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column_value,
	.xRowid = row_id,
};

int module_register(sqlite3 *db, module_find *find, void *data, struct err *err)
{
	struct module *module = xcalloc(1, sizeof(*module));

	*module = (struct module){ .find = find, .data = data };
	if (sqlite3_create_module_v2(db, "csv", &methods, module, free) != SQLITE_OK)
		return sqlite_fail(db, err);
	return 0;
}

int module_create(sqlite3 *db, const char *table, const struct sheet *sheet, struct err *err)
{
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&sql, "CREATE VIRTUAL TABLE ");
	put_quoted(&sql, table);
	buf_puts(&sql, " USING csv");
	if (sheet->count <= MODULE_SHOWN_COLUMNS)
		put_columns(&sql, sheet);
	if (sqlite3_exec(db, buf_str(&sql), NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(db, err);
	return 0;
}

void module_drop(sqlite3 *db, const char *table)
{
	char *sql = sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"", table);

	(void)sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
}
