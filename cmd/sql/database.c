/* SPDX-License-Identifier: MIT */
/*
 * database.c - checks a query and chooses its engine. The first request decides the kind, and the
 * process is locked down for it before anything is opened. Each query passes the guard and then
 * runs on its engine. A SQLite file is opened for each query, since it may have been replaced; a
 * file that could not be locked is compared before and after. An ODBC connection is kept, and a
 * lost one is replaced once if the query has not begun.
 */
#include "database.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "bytecode.h"
#include "cancel.h"
#include "csv_tables.h"
#include "lockdown.h"
#include "odbc.h"
#include "slow.h"
#include "sql/guard.h"
#include "sql/token.h"
#include "sqlite.h"
#include "vfs.h"
#include "workspace/beneath.h"

enum { INI_MAX = 1 << 20 };

enum kind { KIND_FILES, KIND_FILE, KIND_SQLITE, KIND_ODBC, KINDS };

static const char *const kind_names[] = {
	[KIND_FILES] = "files",
	[KIND_FILE] = "file",
	[KIND_SQLITE] = "sqlite",
	[KIND_ODBC] = "odbc",
};

struct database {
	enum kind kind;
	int dir_fd;
	char *at; /* path or connection string */
	struct csv_tables *tables;
	struct odbc *odbc;
};

static int read_about(struct database *database, const json_t *about, struct err *err)
{
	const char *kind = json_string_value(json_object_get(about, "kind"));
	const char *path = json_string_value(json_object_get(about, "path"));
	const char *string = json_string_value(json_object_get(about, "string"));
	const char *at = path != NULL ? path : string;

	database->kind = KINDS;
	for (size_t i = 0; kind != NULL && i < KINDS; i++)
		if (str_eq(kind, kind_names[i]))
			database->kind = (enum kind)i;
	if (database->kind == KINDS || (at == NULL && database->kind != KIND_FILES))
		return err_set(err, ERR_INVALID, "the request names no database");
	database->at = at != NULL ? xstrdup(at) : NULL;
	return 0;
}

static int prepare_engine(struct database *database, struct err *err)
{
	if (database->kind != KIND_ODBC && sqlite_start(err) < 0)
		return -1;
	switch (database->kind) {
	case KIND_FILES:
		database->tables = csv_tables_new(database->dir_fd, err);
		return database->tables != NULL ? 0 : -1;
	case KIND_FILE:
		return vfs_register(database->dir_fd, err);
	default:
		return 0;
	}
}

/* Passes a copy: unixODBC also opens the file for writing, which the lockdown refuses. */
static void use_ini(const char *path)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *text = fd_read_file(AT_FDCWD, path, INI_MAX, &len, &err);
	int fd = text != NULL ? fd_unnamed("odbc.ini", &err) : -1;
	cleanup_free char *name = xasprintf("/proc/self/fd/%d", fd);

	if (fd >= 0 && fd_write_all(fd, text, len, &err) == 0)
		(void)setenv("ODBCINI", name, 1);
}

static int lock_down_to_driver(const struct database *database, const json_t *about,
			       struct err *err)
{
	const char *ini = json_string_value(json_object_get(about, "ini"));
	const char *folder = json_string_value(json_object_get(about, "folder"));

	if (ini != NULL)
		use_ini(ini);
	if (folder != NULL)
		(void)setenv("ODBCSYSINI", folder, 1);
	return lockdown_driver(database->dir_fd, folder, err);
}

/* Sets the time zone: tzset() must read its file before the lockdown hides it. */
static void use_zone(const json_t *about)
{
	const char *zone = json_string_value(json_object_get(about, "zone"));

	if (zone != NULL)
		(void)setenv("TZ", zone, 1);
	tzset();
}

static int lock_down(const struct database *database, const json_t *about, struct err *err)
{
	if (database->kind == KIND_ODBC)
		return lock_down_to_driver(database, about, err);
	use_zone(about);
	return lockdown_local(database->dir_fd, database->kind == KIND_SQLITE ? database->at : NULL,
			      err);
}

struct database *database_new(int dir_fd, const json_t *about, struct err *err)
{
	struct database *database = xcalloc(1, sizeof(*database));

	database->dir_fd = dir_fd;
	if (read_about(database, about, err) < 0 || lock_down(database, about, err) < 0 ||
	    prepare_engine(database, err) < 0) {
		free(database->at);
		free(database);
		return NULL;
	}
	return database;
}

/* ---- a query ---- */

/* Explains a query that was stopped, maybe at its deadline. */
static void report_slow(sqlite3 *db, const struct query *query, const struct sink *sink,
			const struct err *err)
{
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (err->code == ERR_CANCELLED)
		slow_put(db, query, &why);
	if (why.len > 0)
		sink_slow(sink, buf_str(&why));
}

static int run_on_files(struct database *database, const struct query *query, struct sink *sink,
			struct err *err)
{
	if (csv_tables_load(database->tables, query->text, query->len, err) < 0)
		return -1;
	if (sqlite_run(csv_tables_db(database->tables), query, csv_tables_fetch, database->tables,
		       sink, err) < 0) {
		csv_tables_explain(database->tables, query->text, query->len, err);
		report_slow(csv_tables_db(database->tables), query, sink, err);
		return -1;
	}
	csv_tables_report(database->tables, query, sink);
	return 0;
}

static int stat_file(const struct database *database, struct stat *ret, struct err *err)
{
	cleanup_fd int fd = -1;

	if (database->kind == KIND_SQLITE)
		return stat(database->at, ret) == 0 ? 0 : err_sys(err, "looking at it");
	fd = beneath_open_regular(database->dir_fd, database->at, NULL, err);
	if (fd < 0)
		return -1;
	return fstat(fd, ret) == 0 ? 0 : err_sys(err, "looking at it");
}

/*
 * Fails when the file has changed. A database with a log is written without asking readers: what
 * was read may then mix two states.
 */
static int check_unchanged(const struct database *database, const struct stat *before,
			   struct err *err)
{
	struct stat now;

	if (stat_file(database, &now, err) < 0)
		return -1;
	if (now.st_dev != before->st_dev || now.st_ino != before->st_ino ||
	    now.st_size != before->st_size || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
		return err_set(err, ERR_BUSY, "it changed while it was read; run the query again");
	return 0;
}

static int run_and_close(sqlite3 *db_own, const struct query *query, struct sink *sink,
			 struct err *err)
{
	int result = sqlite_seal(db_own, err);

	if (result == 0)
		result = sqlite_run(db_own, query, NULL, NULL, sink, err);
	if (result == 0)
		bytecode_report(db_own, query, sink);
	else
		report_slow(db_own, query, sink, err);
	(void)sqlite3_close(db_own);
	return result;
}

/* Names a file in a folder where a session has its files, which a bare name may mean. */
static int fail_missing(const struct database *database, struct err *err)
{
	static const char *const folders[] = { "output", "input" };
	struct err unused;

	for (size_t i = 0; err->code == ERR_NOT_FOUND && i < ARRAY_SIZE(folders); i++) {
		cleanup_free char *path = xasprintf("%s/%s", folders[i], database->at);
		cleanup_fd int fd = beneath_open_regular(database->dir_fd, path, NULL, &unused);

		if (fd >= 0)
			return err_set(err, ERR_NOT_FOUND, "'%s': there is no such file; '%s' is",
				       database->at, path);
	}
	return err_wrap(err, "'%s'", database->at);
}

static int run_on_file(struct database *database, const struct query *query, struct sink *sink,
		       struct err *err)
{
	struct stat before;
	sqlite3 *db;
	int result;

	if (vfs_check(database->dir_fd, database->at, err) < 0 ||
	    stat_file(database, &before, err) < 0)
		return fail_missing(database, err);
	db = sqlite_open_file(database->at, err);
	if (db == NULL)
		return -1;
	result = run_and_close(db, query, sink, err);
	if (result == 0 && check_unchanged(database, &before, err) < 0)
		return err_wrap(err, "'%s'", database->at);
	return result;
}

/*
 * Opens the file for each query, as it may have been replaced. A file that stayed open would also
 * keep its own programs from changing its journal mode.
 */
static int run_on_host(struct database *database, const struct query *query, struct sink *sink,
		       struct err *err)
{
	struct stat before = { .st_ino = 0 };
	bool still = false;
	sqlite3 *db;
	int result;

	(void)stat(database->at, &before); /* SQLite reports a missing file */
	db = sqlite_open_host(database->at, &still, err);
	if (db == NULL)
		return -1;
	result = run_and_close(db, query, sink, err);
	if (result == 0 && still && check_unchanged(database, &before, err) < 0)
		return err_wrap(err, "the database");
	return result;
}

static int run_on_odbc(struct database *database, const struct query *query, struct sink *sink,
		       struct err *err)
{
	return odbc_run(database->odbc, query, sink, err);
}

static int dialect_of(struct database *database, enum sql_dialect *ret, struct err *err)
{
	*ret = SQL_SQLITE;
	if (database->kind != KIND_ODBC)
		return 0;
	if (database->odbc == NULL)
		database->odbc = odbc_open(database->at, err);
	if (database->odbc == NULL)
		return -1;
	*ret = odbc_dialect(database->odbc);
	return 0;
}

static int check_and_run(struct database *database, const struct query *query, struct sink *sink,
			 struct err *err)
{
	static int (*const run[])(struct database *, const struct query *, struct sink *,
				  struct err *) = {
		[KIND_FILES] = run_on_files,
		[KIND_FILE] = run_on_file,
		[KIND_SQLITE] = run_on_host,
		[KIND_ODBC] = run_on_odbc,
	};
	struct guard_statement statement;
	enum sql_dialect dialect;
	struct query checked = *query;
	cleanup_buf struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	if (dialect_of(database, &dialect, err) < 0)
		return -1;
	token_plain_blanks(dialect, query->text, query->len, &plain);
	if (guard_check(dialect, buf_str(&plain), plain.len, &statement, err) < 0)
		return -1;
	checked.whole = buf_str(&plain);
	checked.text = checked.whole + statement.at;
	checked.len = statement.len;
	return run[database->kind](database, &checked, sink, err);
}

/*
 * Gives a lost connection up. One that was lost before this query is replaced, and the query,
 * checked again for the new connection's dialect, runs again.
 */
int database_run(struct database *database, const struct query *query, struct sink *sink,
		 struct err *err)
{
	bool kept = database->odbc != NULL;
	bool begun = false;
	int result = check_and_run(database, query, sink, err);

	if (result == 0 || database->odbc == NULL || !odbc_is_lost(database->odbc, &begun))
		return result;
	odbc_close(database->odbc);
	database->odbc = NULL;
	return kept && !begun && !cancel_requested() ? check_and_run(database, query, sink, err)
						     : -1;
}

void database_rest(struct database *database)
{
	if (database->odbc == NULL || odbc_rest(database->odbc))
		return;
	odbc_close(database->odbc);
	database->odbc = NULL;
}
