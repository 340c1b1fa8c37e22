/* SPDX-License-Identifier: MIT */
/*
 * csv_tables.c - creates the tables that a query may name. Before SQLite prepares a query, each of
 * its words that may name a table is looked up among the files, and a virtual table is created for
 * each match. A file that cannot be read is recorded, and its error is only reported if SQLite
 * misses that table. Sheets are shared: two names of one file are two tables of one sheet.
 */
#include "csv_tables.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "assumptions.h"
#include "base/mem.h"
#include "bytecode.h"
#include "cancel.h"
#include "compare.h"
#include "module.h"
#include "names.h"
#include "pairs.h"
#include "sql/token.h"
#include "sqlite.h"
#include "text/normal.h"
#include "text/sanitize.h"

enum { SHOWN_MAX = 120, EXPLAINED_MAX = 400 };

/* A file that is a table, maybe under several names. */
struct table {
	char *name;
	struct sheet *sheet; /* owned by tables->sheets */
	bool named;          /* by this query */
};

/* A file that could not be read, under a name that the query may use for something else. */
struct failure {
	char *name;
	struct err err;
};

struct csv_tables {
	sqlite3 *db;
	int dir_fd;
	struct names *names;
	struct sheet **sheets;
	size_t sheet_count;
	struct table *tables;
	size_t table_count;
	struct failure *failures; /* of this query */
	size_t failure_count;
};

/* ---- tables and sheets ---- */

static struct table *find_table(const struct csv_tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->table_count; i++)
		if (strcasecmp(tables->tables[i].name, name) == 0)
			return &tables->tables[i];
	return NULL;
}

/* Returns the sheet of a table; a module_find. */
static struct sheet *find_sheet(void *data, const char *name)
{
	const struct table *table = find_table(data, name);

	return table != NULL ? table->sheet : NULL;
}

static struct sheet *sheet_of_path(const struct csv_tables *tables, const char *path)
{
	for (size_t i = 0; i < tables->sheet_count; i++)
		if (str_eq(tables->sheets[i]->path, path))
			return tables->sheets[i];
	return NULL;
}

static void drop_table(struct csv_tables *tables, struct table *table)
{
	module_drop(tables->db, table->name);
	free(table->name);
	*table = tables->tables[--tables->table_count];
}

static void drop_sheet(struct csv_tables *tables, size_t index)
{
	for (size_t i = tables->table_count; i-- > 0;)
		if (tables->tables[i].sheet == tables->sheets[index])
			drop_table(tables, &tables->tables[i]);
	sheet_free(tables->sheets[index]);
	tables->sheets[index] = tables->sheets[--tables->sheet_count];
}

/* Drops tables whose names mean another file now, and files that have changed. */
static void drop_outdated(struct csv_tables *tables)
{
	for (size_t i = tables->sheet_count; i-- > 0;)
		if (!sheet_is_current(tables->sheets[i]))
			drop_sheet(tables, i);
	for (size_t i = tables->table_count; i-- > 0;) {
		const struct table *table = &tables->tables[i];
		const char *path = names_find(tables->names, table->name);

		if (path == NULL || !str_eq(path, table->sheet->path))
			drop_table(tables, &tables->tables[i]);
	}
}

/* ---- loading ---- */

static int add_table(struct csv_tables *tables, const char *name, struct sheet *sheet,
		     struct err *err)
{
	tables->tables =
		xrealloc(tables->tables, (tables->table_count + 1) * sizeof(*tables->tables));
	tables->tables[tables->table_count++] =
		(struct table){ .name = xstrdup(name), .sheet = sheet, .named = true };
	if (module_create(tables->db, name, sheet, err) == 0)
		return 0;
	free(tables->tables[--tables->table_count].name);
	return -1;
}

static int load(struct csv_tables *tables, const char *name, const char *path, struct err *err)
{
	struct sheet *sheet = sheet_of_path(tables, path);
	struct table *table = find_table(tables, name);

	if (table != NULL && table->sheet == sheet) {
		table->named = true;
		return 0;
	}
	if (table != NULL)
		drop_table(tables, table);
	if (strncasecmp(name, "sqlite_", 7) == 0)
		return err_set(
			err, ERR_INVALID,
			"names that begin with sqlite_ are SQLite's own: ask for '%s' by its "
			"path in quotes",
			path);
	if (sheet == NULL) {
		sheet = sheet_open(tables->dir_fd, path, err);
		if (sheet == NULL)
			return -1;
		tables->sheets = xrealloc(tables->sheets,
					  (tables->sheet_count + 1) * sizeof(struct sheet *));
		tables->sheets[tables->sheet_count++] = sheet;
	}
	return add_table(tables, name, sheet, err);
}

static const struct failure *find_failure(const struct csv_tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->failure_count; i++)
		if (strcasecmp(tables->failures[i].name, name) == 0)
			return &tables->failures[i];
	return NULL;
}

static void forget_failures(struct csv_tables *tables)
{
	while (tables->failure_count > 0)
		free(tables->failures[--tables->failure_count].name);
}

static void add_failure(struct csv_tables *tables, const char *name, const struct err *err)
{
	tables->failures =
		xrealloc(tables->failures, (tables->failure_count + 1) * sizeof(*tables->failures));
	tables->failures[tables->failure_count++] =
		(struct failure){ .name = xstrdup(name), .err = *err };
}

/*
 * Returns true when the query names two files that are one table to SQLite. It fails if it needs
 * the table.
 */
static bool is_other_case(struct csv_tables *tables, const char *name, const char *path)
{
	struct table *table = find_table(tables, name);
	struct err err;

	if (table == NULL || !table->named || str_eq(table->sheet->path, path))
		return false;
	(void)err_set(&err, ERR_INVALID,
		      "'%s' and '%s' differ only in case, which SQL does not: name one of them in "
		      "a query",
		      table->sheet->path, path);
	add_failure(tables, name, &err);
	drop_table(tables, table);
	return true;
}

/*
 * Loads a file. Records one that cannot be read: its error is reported if the query needs that
 * table.
 */
static int try_load(struct csv_tables *tables, const char *name, const char *path, struct err *err)
{
	if (find_failure(tables, name) != NULL || load(tables, name, path, err) == 0)
		return 0;
	if (cancel_requested())
		return -1;
	add_failure(tables, name, err);
	return 0;
}

/* Loads all files, except those that the query names itself. */
static int load_all(struct csv_tables *tables, struct err *err)
{
	for (size_t i = 0; i < names_count(tables->names); i++) {
		const char *path = names_path(tables->names, i);
		cleanup_free char *name = names_shortest(tables->names, path);
		struct table *table = find_table(tables, name);

		if (table != NULL && table->named)
			continue;
		if (try_load(tables, name, path, err) < 0)
			return -1;
		table = find_table(tables, name);
		if (table != NULL)
			table->named = false;
	}
	return 0;
}

static bool is_schema(const char *name)
{
	return strcasecmp(name, "sqlite_master") == 0 || strcasecmp(name, "sqlite_schema") == 0 ||
	       strncasecmp(name, "pragma_", 7) == 0;
}

static int load_named(struct csv_tables *tables, const char *name, struct err *err)
{
	const char *path;

	if (is_schema(name))
		return load_all(tables, err);
	path = names_find(tables->names, name);
	if (path == NULL) {
		/* It may be another file's table, in another case. */
		struct table *table = find_table(tables, name);

		if (table != NULL && !table->named)
			drop_table(tables, table);
		return 0;
	}
	if (is_other_case(tables, name, path))
		return 0;
	return try_load(tables, name, path, err);
}

/* Returns true when a text behind this token may name a table: FROM 'sales.csv'. */
static bool precedes_table(const struct lexer *lexer, const struct token *token)
{
	static const char *const words[] = { "FROM", "JOIN", "IN" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token_is(lexer, token, words[i]))
			return true;
	return token->kind == TOKEN_OTHER && strchr("(,.", lexer->text[token->at]) != NULL;
}

/*
 * Loads what the query's words may name. Each may be a table's name or a column's; some texts a
 * table's.
 */
static int load_each(struct csv_tables *tables, const char *sql, size_t len, struct err *err)
{
	struct lexer lexer;
	struct token token = { .kind = TOKEN_OTHER };
	bool text = false;

	forget_failures(tables);
	token_start(&lexer, SQL_SQLITE, sql, len);
	while (token.kind != TOKEN_END) {
		if (token_next(&lexer, &token, err) < 0)
			return -1;
		if (token.kind == TOKEN_WORD || token.kind == TOKEN_QUOTED ||
		    (token.kind == TOKEN_STRING && text)) {
			cleanup_free char *name = token_text(&lexer, &token);

			if (load_named(tables, name, err) < 0)
				return -1;
		}
		text = token.kind != TOKEN_END && precedes_table(&lexer, &token);
	}
	return 0;
}

/*
 * Marks columns of that name among those that SQLite reports as one (module.h). NULL: all of them.
 */
static void mark_columns(struct csv_tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->sheet_count; i++) {
		struct sheet *sheet = tables->sheets[i];

		for (size_t c = MODULE_SINGLE_COLUMNS; c < sheet->count; c++)
			if (name == NULL || strcasecmp(sheet->columns[c].name, name) == 0)
				sheet->columns[c].named = true;
	}
}

/* Returns true when a `*` behind this token means all columns. */
static bool precedes_all(const struct lexer *lexer, const struct token *token)
{
	return token_is(lexer, token, "SELECT") || token_is(lexer, token, "DISTINCT") ||
	       token_is(lexer, token, "ALL") || token_is_char(lexer, token, ',') ||
	       token_is_char(lexer, token, '.');
}

static int mark_named(struct csv_tables *tables, const char *sql, size_t len, struct err *err)
{
	struct lexer lexer;
	struct token token = { .kind = TOKEN_OTHER };
	bool all = false;

	token_start(&lexer, SQL_SQLITE, sql, len);
	while (token.kind != TOKEN_END) {
		if (token_next(&lexer, &token, err) < 0)
			return -1;
		if (all && token_is_char(&lexer, &token, '*'))
			mark_columns(tables, NULL);
		if (token.kind == TOKEN_WORD || token.kind == TOKEN_QUOTED) {
			cleanup_free char *name = token_name(&lexer, &token);

			mark_columns(tables, name);
		}
		all = token.kind != TOKEN_END && precedes_all(&lexer, &token);
	}
	return 0;
}

static void begin_query(struct csv_tables *tables)
{
	bool full = sqlite3_memory_used() > SQLITE_HEAP_MAX / 2;

	for (size_t i = 0; i < tables->table_count; i++)
		tables->tables[i].named = false;
	for (size_t i = 0; i < tables->sheet_count; i++) {
		struct sheet *sheet = tables->sheets[i];

		sheet->used = false;
		for (size_t c = 0; c < sheet->count; c++) {
			struct column *column = &sheet->columns[c];

			column->named = column->wanted = false;
			column->paired = column->made = false;
			column->marks = 0;
		}
		if (full)
			(void)sheet_drop(sheet, true);
	}
}

int csv_tables_load(struct csv_tables *tables, const char *sql, size_t len, struct err *err)
{
	sqlite_unseal(tables->db);
	names_look(tables->names);
	drop_outdated(tables);
	begin_query(tables);
	if (load_each(tables, sql, len, err) < 0 || mark_named(tables, sql, len, err) < 0)
		return -1;
	pairs_mark(tables->sheets, tables->sheet_count, sql, len);
	return sqlite_seal(tables->db, err);
}

/* ---- values ---- */

static int fetch(struct csv_tables *tables, struct err *err)
{
	for (size_t i = 0; i < tables->sheet_count; i++)
		if (sheet_fetch(tables->sheets[i], err) < 0)
			return -1;
	return 0;
}

int csv_tables_fetch(void *data, struct err *err)
{
	struct csv_tables *tables = data;
	bool dropped = false;

	if (fetch(tables, err) == 0)
		return 0;
	if (err->code != ERR_LIMIT)
		return -1;
	/* Columns that only earlier queries needed are dropped. */
	for (size_t i = 0; i < tables->sheet_count; i++)
		dropped = sheet_drop(tables->sheets[i], false) || dropped;
	return dropped ? fetch(tables, err) : -1;
}

/* ---- the object ---- */

struct csv_tables *csv_tables_new(int dir_fd, struct err *err)
{
	struct csv_tables *tables = xcalloc(1, sizeof(*tables));

	tables->dir_fd = dir_fd;
	tables->db = sqlite_open_memory(err);
	if (tables->db == NULL || module_register(tables->db, find_sheet, tables, err) < 0) {
		free(tables);
		return NULL;
	}
	tables->names = names_new(dir_fd);
	return tables;
}

sqlite3 *csv_tables_db(const struct csv_tables *tables)
{
	return tables->db;
}

/*
 * Returns true for a finding about a column, which makes one about the query's own values
 * redundant.
 */
static bool has_marks(const struct csv_tables *tables, unsigned marks)
{
	for (size_t i = 0; i < tables->sheet_count; i++)
		for (size_t c = 0; c < tables->sheets[i]->count; c++)
			if (tables->sheets[i]->used &&
			    (tables->sheets[i]->columns[c].marks & marks))
				return true;
	return false;
}

void csv_tables_report(struct csv_tables *tables, const struct query *query, struct sink *sink)
{
	bool truths = assumptions_has_truths(query);
	struct sides sides = { .sheets = tables->sheets,
			       .count = tables->sheet_count,
			       .find = find_sheet,
			       .data = tables };

	compare_report(query, sides, tables->db, sink);
	if (!has_marks(tables, COLUMN_NUMBERED | COLUMN_TEXTED | COLUMN_TRUE))
		bytecode_report(tables->db, query, sink);
	for (size_t i = 0; i < tables->sheet_count; i++)
		if (tables->sheets[i]->used)
			assumptions_report(tables->sheets[i], truths, sink);
}

/* ---- missing tables and columns ---- */

static bool explain_failure(const struct csv_tables *tables, const char *name, struct err *err)
{
	static const char schema[] = "main.";
	size_t len = sizeof(schema) - 1;
	const struct failure *failure = find_failure(tables, name);

	if (failure == NULL && strncasecmp(name, schema, len) == 0)
		failure = find_failure(tables, name + len);
	if (failure != NULL)
		*err = failure->err;
	return failure != NULL;
}

static void explain_table(const struct csv_tables *tables, const char *name, struct err *err)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	const char *why = "the session's CSV files are the tables ";
	size_t max = SHOWN_MAX;

	if (explain_failure(tables, name, err))
		return;
	if (names_find(tables->names, name) != NULL) {
		(void)err_set(err, err->code,
			      "no such table: %s; a name with a point stands in quotes: \"%s\"",
			      name, name);
		return;
	}
	if (names_put_other(tables->names, name, &list)) {
		why = "";
		max = EXPLAINED_MAX;
	} else if (names_put(tables->names, name, &list) > 1) {
		why = "several files have that name, ask for one by its path in quotes: ";
	} else {
		buf_clear(&list);
		if (names_put(tables->names, NULL, &list) == 1)
			why = "the session's CSV file is the table ";
	}
	sanitize_line(&shown, buf_str(&list), list.len, max);
	(void)err_set(err, err->code, "no such table: %s; %s%s", name,
		      shown.len > 0 ? why : "the session has no CSV file", buf_str(&shown));
}

/*
 * Returns true when the query has this name in double quotes, which users take for quotes of a
 * text.
 */
static bool is_quoted(const char *sql, size_t len, const char *name)
{
	struct lexer lexer;
	struct token token = { .kind = TOKEN_OTHER };
	struct err err;

	token_start(&lexer, SQL_SQLITE, sql, len);
	while (token.kind != TOKEN_END) {
		cleanup_free char *text = NULL;

		if (token_next(&lexer, &token, &err) < 0)
			return false;
		text = token.kind == TOKEN_QUOTED ? token_name(&lexer, &token) : NULL;
		if (text != NULL && lexer.text[token.at] == '"' && str_eq(text, name))
			return true;
	}
	return false;
}

/* Returns a column whose name differs only in the form of its letters: ü may be two characters. */
static const struct column *find_form(const struct sheet *sheet, const char *name)
{
	cleanup_free char *key = normal_compose(name);

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];
		cleanup_free char *form = normal_compose(column->name);

		if (strcasecmp(form, key) == 0 && strcasecmp(column->name, name) != 0)
			return column;
	}
	return NULL;
}

/* Returns true when a file that was read has such a column. */
static bool explain_form(const struct csv_tables *tables, const char *name, struct err *err)
{
	const char *point = strrchr(name, '.');

	for (size_t i = 0; i < tables->sheet_count; i++) {
		const struct sheet *sheet = tables->sheets[i];
		const struct column *column = find_form(sheet, point != NULL ? point + 1 : name);
		cleanup_buf struct buf escaped = BUF_INIT(BUF_UNBOUNDED);

		if (column == NULL)
			continue;
		names_put_escaped(&escaped, column->name);
		(void)err_set(
			err, err->code,
			"no such column: %s; %s has it in another form of its letters: \"%s\"",
			name, sheet->path, buf_str(&escaped));
		return true;
	}
	return false;
}

/* Adds to the error the columns of each file that was read, which may be one of an earlier query.
 */
static void list_columns(const struct csv_tables *tables, const char *message, struct err *err)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < tables->sheet_count; i++) {
		const struct sheet *sheet = tables->sheets[i];

		buf_putf(&list, "%s%s has: ", i > 0 ? "; " : "", sheet->path);
		for (size_t k = 0; k < sheet->count; k++)
			buf_putf(&list, "%s%s", k > 0 ? ", " : "", sheet->columns[k].name);
	}
	sanitize_line(&shown, buf_str(&list), list.len, SHOWN_MAX);
	if (shown.len > 0)
		(void)err_set(err, err->code, "%s; %s", message, buf_str(&shown));
}

void csv_tables_explain(const struct csv_tables *tables, const char *sql, size_t len,
			struct err *err)
{
	static const char no_table[] = "no such table: ";
	static const char no_column[] = "no such column: ";
	char message[sizeof(err->msg)];

	memcpy(message, err->msg, sizeof(message));
	if (strncmp(message, no_table, sizeof(no_table) - 1) == 0)
		explain_table(tables, message + sizeof(no_table) - 1, err);
	if (strncmp(message, no_column, sizeof(no_column) - 1) != 0 ||
	    explain_form(tables, message + sizeof(no_column) - 1, err))
		return;
	if (is_quoted(sql, len, message + sizeof(no_column) - 1))
		(void)err_set(err, err->code, "%s; a text has single quotes, a name double ones",
			      message);
	else
		list_columns(tables, message, err);
}
