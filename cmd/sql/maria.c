/* SPDX-License-Identifier: MIT */
/*
 * maria.c - shadows functions of libmariadb. The driver links to libmariadb dynamically, so the
 * functions that this program exports shadow the library's. While `streaming` is set, storing a
 * result does nothing and the row count is endless: the driver then fetches row by row. Errors
 * among such rows appear at the connection only, so the error functions look there.
 */
#include "maria.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "warnings.h"

#define LIBRARY "libmariadb.so.3"
#define MANY ((unsigned long long)INT64_MAX)

static bool streaming;
static void *connection; /* libmariadb's, of the last prepared statement */

void maria_stream(bool stream)
{
	streaming = stream;
}

/* The beginning of the library's MYSQL_FIELD. */
struct field {
	char *names[7];
	unsigned long length;
	unsigned long max_length;
};

/*
 * Lifts the length at which the driver cuts values: the longest one that the library saw while
 * storing.
 */
static void forget_longest(void *statement)
{
	void *(*metadata)(void *statement);
	unsigned (*count)(void *result);
	struct field *(*nth)(void *result, unsigned n);
	void (*free_result)(void *result);
	void *result;

	if (!library_find(LIBRARY, "mysql_stmt_result_metadata", &metadata) ||
	    !library_find(LIBRARY, "mysql_num_fields", &count) ||
	    !library_find(LIBRARY, "mysql_fetch_field_direct", &nth) ||
	    !library_find(LIBRARY, "mysql_free_result", &free_result))
		return;
	result = metadata(statement);
	for (unsigned i = 0; result != NULL && i < count(result); i++)
		nth(result, i)->max_length = LONG_MAX;
	if (result != NULL)
		free_result(result);
}

int mysql_stmt_store_result(void *statement);
EXPORTED int mysql_stmt_store_result(void *statement)
{
	int (*store)(void *statement);

	if (streaming) {
		forget_longest(statement);
		return 0;
	}
	return library_find(LIBRARY, __func__, &store) ? store(statement) : 1;
}

/* Returns an endless count: the driver fetches as long as there are more rows than it has. */
unsigned long long mysql_stmt_num_rows(void *statement);
EXPORTED unsigned long long mysql_stmt_num_rows(void *statement)
{
	unsigned long long (*count)(void *statement);

	if (streaming)
		return MANY;
	return library_find(LIBRARY, __func__, &count) ? count(statement) : 0;
}

/* ---- errors among streamed rows, which the library reports at the connection only ---- */

void *mysql_stmt_init(void *of_connection);
EXPORTED void *mysql_stmt_init(void *of_connection)
{
	void *(*init)(void *of_connection);

	connection = of_connection;
	return library_find(LIBRARY, __func__, &init) ? init(of_connection) : NULL;
}

static unsigned ask_number(const char *name, void *handle)
{
	unsigned (*number)(void *handle);

	return library_find(LIBRARY, name, &number) ? number(handle) : 0;
}

static const char *ask_text(const char *name, void *handle)
{
	const char *(*text)(void *handle);

	return library_find(LIBRARY, name, &text) ? text(handle) : "";
}

static bool has_own_error(void *statement)
{
	return !streaming || ask_number("mysql_stmt_errno", statement) != 0;
}

unsigned mysql_stmt_errno(void *statement);
EXPORTED unsigned mysql_stmt_errno(void *statement)
{
	return has_own_error(statement) ? ask_number(__func__, statement)
					: ask_number("mysql_errno", connection);
}

const char *mysql_stmt_error(void *statement);
EXPORTED const char *mysql_stmt_error(void *statement)
{
	return has_own_error(statement) ? ask_text(__func__, statement)
					: ask_text("mysql_error", connection);
}

const char *mysql_stmt_sqlstate(void *statement);
EXPORTED const char *mysql_stmt_sqlstate(void *statement)
{
	return has_own_error(statement) ? ask_text(__func__, statement)
					: ask_text("mysql_sqlstate", connection);
}

bool maria_reset(void)
{
	int (*reset)(void *of);

	return connection != NULL && library_find(LIBRARY, "mysql_reset_connection", &reset) &&
	       reset(connection) == 0;
}

/* ---- warnings, which the driver does not pass on: rows cut, dates that became NULL ---- */

/*
 * Takes a row of SHOW WARNINGS: its level, number and message. Notes are only about the execution.
 */
static void take_warning(struct warnings *warnings, char **row)
{
	if (row[0] != NULL && row[1] != NULL && row[2] != NULL && strcmp(row[0], "Note") != 0)
		warnings_put(warnings, "warns", row[2], row[1]);
}

void maria_warn(struct sink *sink)
{
	static const char sql[] = "SHOW WARNINGS";
	struct warnings warnings = { .sink = sink };
	int (*query)(void *of, const char *text, unsigned long len);
	void *(*store)(void *of);
	char **(*fetch)(void *result);
	void (*free_result)(void *result);
	void *result;
	char **row;

	if (connection == NULL || !library_find(LIBRARY, "mysql_real_query", &query) ||
	    !library_find(LIBRARY, "mysql_store_result", &store) ||
	    !library_find(LIBRARY, "mysql_fetch_row", &fetch) ||
	    !library_find(LIBRARY, "mysql_free_result", &free_result) ||
	    query(connection, sql, strlen(sql)) != 0)
		return;
	result = store(connection);
	while (result != NULL && (row = fetch(result)) != NULL)
		take_warning(&warnings, row);
	if (result != NULL)
		free_result(result);
	warnings_end(&warnings);
}
