/* SPDX-License-Identifier: MIT */
/*
 * sqlite.c - opens, seals and runs.
 *
 * Several walls stand behind the guard. Files are opened read-only. An authorizer denies everything
 * but reading. query_only and defensive mode are on, and SQLite itself must call the statement
 * read-only. A progress handler polls for a cancel. A file of the machine with a write-ahead log
 * that cannot be opened is read as immutable, if its log is empty.
 */
#include "sqlite.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/util.h"
#include "cancel.h"
#include "functions.h"
#include "letters.h"
#include "text/percent.h"
#include "vfs.h"

enum {
	PROGRESS_STEPS = 20000, /* virtual machine steps between checks for a cancel */
	VALUE_MAX = 64 << 20,   /* bytes of one value, and of a row */
	BUSY_MS = 2000,
};

static const struct {
	int id;
	int value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, VALUE_MAX }, { SQLITE_LIMIT_COLUMN, SINK_COLUMNS_MAX },
	{ SQLITE_LIMIT_ATTACHED, 0 },       { SQLITE_LIMIT_WORKER_THREADS, 0 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
};

int sqlite_start(struct err *err)
{
	if (sqlite3_config(SQLITE_CONFIG_URI, 0) != SQLITE_OK || sqlite3_initialize() != SQLITE_OK)
		return err_set(err, ERR_INTERNAL, "SQLite does not start");
	return 0;
}

/* Returns whether the error may come from another dialect, which models often write. */
static bool is_of_dialect(const char *message)
{
	return (strncmp(message, "near ", strlen("near ")) == 0 &&
		strstr(message, ": syntax error") != NULL) ||
	       strncmp(message, "no such function", strlen("no such function")) == 0;
}

int sqlite_fail(sqlite3 *db, struct err *err)
{
	int code = sqlite3_errcode(db);
	const char *message = sqlite3_errmsg(db);

	if (cancel_requested())
		return cancel_fail(err);
	if (code == SQLITE_NOMEM)
		return err_set(err, ERR_LIMIT, "the query needs more than %d MB of memory",
			       SQLITE_HEAP_MAX >> 20);
	if (code == SQLITE_BUSY)
		return err_set(err, ERR_BUSY, "somebody is writing to the database; try again");
	return err_set(err, ERR_INVALID, "%s%s", message,
		       is_of_dialect(message) ? "; files are queried in SQLite's SQL" : "");
}

static int on_progress(void *unused)
{
	(void)unused;
	return cancel_requested();
}

static sqlite3 *open_with(const char *name, int flags, const char *vfs, struct err *err)
{
	sqlite3 *db = NULL;
	int result;

	(void)sqlite3_hard_heap_limit64(SQLITE_HEAP_MAX);
	result = sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_PRIVATECACHE, vfs);
	if (result != SQLITE_OK) {
		(void)(db != NULL ? sqlite_fail(db, err)
				  : err_set(err, ERR_INTERNAL, "SQLite does not start"));
		(void)sqlite3_close(db);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		(void)sqlite3_limit(db, limits[i].id, limits[i].value);
	(void)sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_progress_handler(db, PROGRESS_STEPS, on_progress, NULL);
	(void)sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	if (functions_register(db, err) < 0) {
		(void)sqlite3_close(db);
		return NULL;
	}
	return db;
}

sqlite3 *sqlite_open_memory(struct err *err)
{
	sqlite3 *db = open_with(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, err);

	if (db != NULL && letters_register(db, err) < 0) {
		(void)sqlite3_close(db);
		return NULL;
	}
	return db;
}

sqlite3 *sqlite_open_file(const char *path, struct err *err)
{
	return open_with(path, SQLITE_OPEN_READONLY, VFS_NAME, err);
}

static sqlite3 *open_still(const char *path, struct err *err)
{
	cleanup_free char *encoded = percent_encode(path);
	cleanup_free char *uri = xasprintf("file:%s?immutable=1", encoded);

	return open_with(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL, err);
}

/* Returns true when the database uses a log that could neither be opened nor made. */
static bool lacks_log(sqlite3 *db)
{
	int code = sqlite3_extended_errcode(db);

	return (code & 0xff) == SQLITE_CANTOPEN || code == SQLITE_READONLY_DIRECTORY;
}

/* Returns true when a log is beside the target of a link, and not empty. */
static bool has_log(sqlite3 *db)
{
	const char *name = sqlite3_filename_wal(sqlite3_db_filename(db, "main"));
	struct stat st;

	return stat(name, &st) == 0 && st.st_size > 0;
}

/*
 * Opens a database of the machine. A log can be read only with its index, which a reader must not
 * make.
 */
sqlite3 *sqlite_open_host(const char *path, bool *ret_still, struct err *err)
{
	sqlite3 *db = open_with(path, SQLITE_OPEN_READONLY, NULL, err);
	bool still;
	bool logged;

	if (db == NULL)
		return NULL;
	if (sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK) {
		*ret_still = false;
		return db;
	}
	still = lacks_log(db);
	logged = has_log(db);
	(void)(still && logged ? err_set(err, ERR_BUSY,
					 "what was last written is still in its log; open it once "
					 "with a program that writes, and close it")
			       : sqlite_fail(db, err));
	(void)sqlite3_close(db);
	if (!still || logged)
		return NULL;
	*ret_still = true;
	return open_still(path, err);
}

/* ---- read-only ---- */

static bool is_among(const char *name, const char *const *names)
{
	for (; name != NULL && *names != NULL; names++)
		if (strcasecmp(name, *names) == 0)
			return true;
	return false;
}

/*
 * Returns true for the declaration of a virtual table, such as json_each(): its CREATE TABLE never
 * runs, and SQLite asks for these updates and nothing else. Real updates of the schema are
 * impossible: it is sealed.
 */
static bool is_declared(const char *table)
{
	static const char *const schemas[] = { "sqlite_master", "sqlite_temp_master", NULL };

	return is_among(table, schemas);
}

static int authorize(void *unused, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	static const char *const functions[] = { "load_extension", "fts3_tokenizer", "writefile",
						 "readfile",       "edit",           NULL };
	static const char *const pragmas[] = {
		"table_info",  "table_xinfo",      "table_list",    "index_list",   "index_info",
		"index_xinfo", "foreign_key_list", "database_list", "data_version", NULL
	};

	(void)unused, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_among(second, functions) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return is_among(first, pragmas) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_UPDATE:
		return is_declared(first) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

int sqlite_seal(sqlite3 *db, struct err *err)
{
	static const struct {
		int id;
		int value;
	} switches[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		/* A misspelt name in quotes is an error, not a text. */
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (sqlite3_db_config(db, switches[i].id, switches[i].value, NULL) != SQLITE_OK)
			return sqlite_fail(db, err);
	if (sqlite3_exec(db, "PRAGMA query_only = ON", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_set_authorizer(db, authorize, NULL) != SQLITE_OK)
		return sqlite_fail(db, err);
	return 0;
}

void sqlite_unseal(sqlite3 *db)
{
	(void)sqlite3_set_authorizer(db, NULL, NULL);
	(void)sqlite3_exec(db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
}

/* ---- a query ---- */

static int bind_one(sqlite3_stmt *statement, int index, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		return sqlite3_bind_int64(statement, index, json_integer_value(value));
	case JSON_REAL:
		return sqlite3_bind_double(statement, index, json_real_value(value));
	case JSON_TRUE:
	case JSON_FALSE:
		return sqlite3_bind_int(statement, index, json_is_true(value));
	case JSON_STRING:
		return sqlite3_bind_text64(statement, index, json_string_value(value),
					   json_string_length(value), SQLITE_TRANSIENT,
					   SQLITE_UTF8);
	default:
		return sqlite3_bind_null(statement, index);
	}
}

static int bind_all(sqlite3 *db, sqlite3_stmt *statement, const json_t *params, struct err *err)
{
	size_t given = json_array_size(params);
	size_t wanted = (size_t)sqlite3_bind_parameter_count(statement);
	size_t index;
	json_t *value;

	if (given != wanted)
		return err_set(err, ERR_INVALID, "the query has %zu parameter%s, params has %zu",
			       wanted, wanted == 1 ? "" : "s", given);
	json_array_foreach (params, index, value)
		if (bind_one(statement, (int)index + 1, value) != SQLITE_OK)
			return sqlite_fail(db, err);
	return 0;
}

static int put_columns(sqlite3_stmt *statement, struct sink *sink, struct err *err)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);

		if (sink_column(sink, name != NULL ? name : "", NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* Returns true for a column that is declared BOOLEAN, not for an expression. */
static bool is_boolean(sqlite3_stmt *statement, int i)
{
	const char *type = sqlite3_column_decltype(statement, i);

	return type != NULL && str_eq(type, "BOOLEAN");
}

static void put_integer(sqlite3_stmt *statement, int i, bool booleans, struct sink *sink)
{
	int64_t value = sqlite3_column_int64(statement, i);

	if (booleans && (value == 0 || value == 1) && is_boolean(statement, i))
		sink_bool(sink, value != 0);
	else
		sink_int(sink, value);
}

static void put_value(sqlite3_stmt *statement, int i, bool booleans, struct sink *sink)
{
	const void *data;

	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		put_integer(statement, i, booleans, sink);
		break;
	case SQLITE_FLOAT:
		sink_real(sink, sqlite3_column_double(statement, i));
		break;
	case SQLITE_TEXT:
		data = sqlite3_column_text(statement, i);
		sink_text(sink, data != NULL ? data : "",
			  (size_t)sqlite3_column_bytes(statement, i));
		break;
	case SQLITE_BLOB:
		data = sqlite3_column_blob(statement, i);
		sink_blob(sink, data != NULL ? data : "",
			  (size_t)sqlite3_column_bytes(statement, i));
		break;
	default:
		sink_null(sink);
		break;
	}
}

static int put_rows(sqlite3 *db, sqlite3_stmt *statement, bool booleans, struct sink *sink,
		    struct err *err)
{
	int columns = sqlite3_column_count(statement);
	bool full = false;
	int result;

	while (!full && (result = sqlite3_step(statement)) != SQLITE_DONE) {
		if (result != SQLITE_ROW)
			return sqlite_fail(db, err);
		for (int i = 0; i < columns; i++)
			put_value(statement, i, booleans, sink);
		if (sink_end_row(sink, &full, err) < 0)
			return -1;
	}
	return 0;
}

static int run_statement(sqlite3 *db, sqlite3_stmt *statement, const struct query *query,
			 bool booleans, struct sink *sink, struct err *err)
{
	if (statement == NULL)
		return err_set(err, ERR_INVALID, "the query is empty");
	if (!sqlite3_stmt_readonly(statement))
		return err_set(err, ERR_DENIED, "SQLite says that this query writes");
	if (bind_all(db, statement, query->params, err) < 0 ||
	    put_columns(statement, sink, err) < 0)
		return -1;
	return put_rows(db, statement, booleans, sink, err);
}

int sqlite_run(sqlite3 *db, const struct query *query, sqlite_prepared *prepared, void *data,
	       struct sink *sink, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int result = 0;

	if (sqlite3_prepare_v3(db, query->text, (int)query->len, 0, &statement, NULL) != SQLITE_OK)
		return sqlite_fail(db, err);
	functions_begin();
	if (prepared != NULL)
		result = prepared(data, err);
	if (result == 0)
		result = run_statement(db, statement, query, prepared != NULL, sink, err);
	if (result == 0)
		functions_report(sink);
	(void)sqlite3_finalize(statement);
	return result;
}
