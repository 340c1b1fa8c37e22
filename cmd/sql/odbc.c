/* SPDX-License-Identifier: MIT */
/*
 * odbc.c - runs a query by ODBC. A query runs in a read-only transaction, from begin_transaction()
 * to a rollback. PostgreSQL's queries bypass the driver if its library allows (pq_run.h). MySQL's
 * and MariaDB's are always prepared, because only a prepared result has its columns known. The
 * database gets the deadline too, a little later than the server's own, for the case that this
 * process is killed and cannot cancel.
 */
#include "odbc.h"

#include <sqlext.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "cancel.h"
#include "maria.h"
#include "odbc_link.h"
#include "odbc_params.h"
#include "odbc_rows.h"
#include "pq.h"
#include "pq_params.h"
#include "pq_rows.h"
#include "pq_run.h"
#include "sql/tokens.h"

enum {
	MS = 1000,
	ABANDONED_MS = 500, /* after the time at which the server would have ended the query */
	LOOK_MS = 2000,     /* between the database's checks of the connection */
};

/* ---- a query ---- */

/* Cancels by the driver, or by libpq where a thread may be blocked in it. */
static void cancel(void *statement)
{
	if (!pq_cancel())
		(void)SQLCancel(statement);
}

/*
 * Returns when the database itself must end the query if this process cannot. Returns 0 when the
 * login's own limit is sooner.
 */
static uint64_t latest_end_ms(const struct odbc *odbc, uint64_t timeout_ms)
{
	uint64_t end = timeout_ms + ABANDONED_MS;
	bool sooner = odbc->own_timeout_ms > 0 && (uint64_t)odbc->own_timeout_ms <= end;

	return timeout_ms == 0 || sooner ? 0 : end;
}

/*
 * Makes the database itself refuse writes, and end the query if this process is killed.
 *
 * It is one text: READ ONLY must come first in the transaction, before the savepoints that psqlodbc
 * sets. A cursor is planned for fetching all of its rows.
 */
static int begin_postgresql(struct odbc *odbc, const struct query *query, struct err *err)
{
	uint64_t end_ms = latest_end_ms(odbc, query->timeout_ms);
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&sql, "SET TRANSACTION READ ONLY;SET LOCAL standard_conforming_strings = on;"
		       "SET LOCAL bytea_output = hex;SET LOCAL cursor_tuple_fraction = 1");
	if (end_ms > 0)
		buf_putf(&sql, ";SET LOCAL statement_timeout = %ju", (uintmax_t)end_ms);
	if (odbc->can_look)
		buf_putf(&sql, ";SET LOCAL client_connection_check_interval = %d", LOOK_MS);
	return odbc_execute(odbc, buf_str(&sql), err);
}

/*
 * Limits the rows: the driver would have to read the rest of a result. The subquery of a table
 * makes the statement also clear the warnings of earlier ones.
 */
static int begin_mysql(struct odbc *odbc, const struct query *query, struct err *err)
{
	uint64_t end_ms = latest_end_ms(odbc, query->timeout_ms);
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);

	buf_putf(
		&sql,
		"SET SESSION sql_select_limit = (SELECT %ju FROM information_schema.engines LIMIT 1)",
		(uintmax_t)query->rows_max);
	if (end_ms > 0 && odbc->is_mariadb)
		buf_putf(&sql, ", max_statement_time = %ju.%03ju", (uintmax_t)end_ms / MS,
			 (uintmax_t)end_ms % MS);
	else if (end_ms > 0)
		buf_putf(&sql, ", max_execution_time = %ju", (uintmax_t)end_ms);
	if (odbc_execute(odbc, buf_str(&sql), err) < 0)
		return -1;
	return odbc_execute(odbc, "START TRANSACTION READ ONLY", err);
}

static int begin_transaction(struct odbc *odbc, const struct query *query, struct err *err)
{
	int result = 0;

	if (odbc->dialect == SQL_POSTGRESQL)
		result = begin_postgresql(odbc, query, err);
	else if (odbc->dialect == SQL_MYSQL)
		result = begin_mysql(odbc, query, err);
	if (result == 0)
		return 0;
	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	/* Not every system on which PostgreSQL runs supports the check. */
	if (odbc->can_look && !cancel_requested()) {
		odbc->can_look = false;
		return begin_transaction(odbc, query, err);
	}
	return err_wrap(err, "beginning a read-only transaction");
}

/*
 * Sets the driver's timeout, which enforces the deadline where the database does not. The driver
 * closes the connection of a killed process anyway.
 */
static void set_driver_timeout(struct odbc *odbc, SQLHSTMT statement, uint64_t timeout_ms)
{
	bool limited = odbc->dialect == SQL_POSTGRESQL || odbc->dialect == SQL_MYSQL;

	if (!limited && timeout_ms > 0)
		(void)SQLSetStmtAttr(statement, SQL_ATTR_QUERY_TIMEOUT,
				     odbc_number((timeout_ms + ABANDONED_MS + MS - 1) / MS), 0);
}

static int bind_all(struct odbc *odbc, SQLHSTMT statement, const json_t *params,
		    struct odbc_param *slots, struct err *err)
{
	int result = odbc_params_bind(statement, odbc->dialect, params, slots, err);

	return result == ODBC_PARAMS_DRIVER ? odbc_fail(odbc, SQL_HANDLE_STMT, statement, err)
					    : result;
}

/*
 * Prepares a text. `ret_columns` may be NULL: some drivers query the database once more for them.
 */
static int prepare_text(struct odbc *odbc, SQLHSTMT statement, const struct query *query,
			SQLSMALLINT *ret_columns, struct err *err)
{
	if (!SQL_SUCCEEDED(SQLPrepare(statement, odbc_text(query->text), (SQLINTEGER)query->len)))
		return odbc_fail(odbc, SQL_HANDLE_STMT, statement, err);
	if (odbc_params_count(statement, odbc->dialect, query->params, err) < 0)
		return -1;
	if (ret_columns != NULL && !SQL_SUCCEEDED(SQLNumResultCols(statement, ret_columns)))
		return odbc_fail(odbc, SQL_HANDLE_STMT, statement, err);
	return 0;
}

static bool begins_with(const struct query *query, const char *word)
{
	return strncasecmp(query->text, word, strlen(word)) == 0;
}

/* Returns the number of values in a row of VALUES, or 0 for another statement. */
static size_t count_values(const struct query *query)
{
	struct tokens tokens = { .count = 0 };
	struct err err;
	size_t count = 0;
	size_t i = 1;

	token_start(&tokens.lexer, SQL_MYSQL, query->text, query->len);
	if (tokens_read(&tokens, &err) == 0 && tokens_is(&tokens, 0, "VALUES") &&
	    tokens_is_char(&tokens, 1, '(')) {
		size_t end = tokens.behind[i++] - 1;

		for (count = 1; i < end;
		     i = tokens_is_char(&tokens, i, '(') ? tokens.behind[i] : i + 1)
			count += tokens_is_char(&tokens, i, ',');
	}
	tokens_release(&tokens);
	return count;
}

/*
 * Wraps the query into one that has columns. MariaDB names the columns of VALUES by the values of
 * the first row, which may be equal, so they get the names that PostgreSQL and SQLite use.
 */
static void put_around(struct buf *text, const struct query *query)
{
	size_t count = count_values(query);

	buf_puts(text, count > 0 ? "WITH ptycell(" : "SELECT * FROM (");
	for (size_t i = 1; i <= count; i++)
		buf_putf(text, "%scolumn%zu", i > 1 ? ", " : "", i);
	buf_puts(text, count > 0 ? ") AS (" : "");
	buf_put(text, query->text, query->len);
	buf_puts(text, count > 0 ? "\n) SELECT * FROM ptycell" : "\n) ptycell");
}

/*
 * Prepares a query. MariaDB prepares VALUES as if it had no columns, and its driver then loses the
 * rows, the connection and its own state. Such a query only runs within one that has columns.
 */
static int prepare_mysql(struct odbc *odbc, SQLHSTMT statement, const struct query *query,
			 struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct query outer = *query;
	SQLSMALLINT columns = 0;

	if (odbc->is_mariadb && odbc_params_in_values(query))
		return err_set(err, ERR_INVALID,
			       "MariaDB forgets the values of parameters within VALUES; write "
			       "SELECT ? UNION ALL SELECT ?");
	if (prepare_text(odbc, statement, query, &columns, err) < 0)
		return -1;
	if (columns > 0)
		return 0;
	if (begins_with(query, "SHOW"))
		return err_set(err, ERR_INVALID,
			       "the database tells drivers no rows of this SHOW; ask "
			       "information_schema, as in SELECT * FROM "
			       "information_schema.processlist");
	put_around(&text, query);
	outer.text = buf_str(&text);
	outer.len = text.len;
	if (prepare_text(odbc, statement, &outer, &columns, err) < 0)
		return -1;
	return columns > 0 ? 0 : err_set(err, ERR_INVALID, "the query has no columns");
}

static int prepare_params(struct odbc *odbc, SQLHSTMT statement, const struct query *query,
			  struct odbc_param *slots, struct err *err)
{
	int result = odbc->dialect == SQL_MYSQL ? prepare_mysql(odbc, statement, query, err)
						: prepare_text(odbc, statement, query, NULL, err);

	return result == 0 ? bind_all(odbc, statement, query->params, slots, err) : result;
}

static int execute(struct odbc *odbc, SQLHSTMT statement, const struct query *query,
		   struct err *err)
{
	cleanup_free struct odbc_param *slots =
		xcalloc(json_array_size(query->params) + 1, sizeof(*slots));
	SQLRETURN result;

	(void)SQLSetStmtAttr(statement, SQL_ATTR_NOSCAN, odbc_number(SQL_NOSCAN_ON), 0);
	set_driver_timeout(odbc, statement, query->timeout_ms);
	if (json_array_size(query->params) == 0 && odbc->dialect != SQL_MYSQL) {
		result = SQLExecDirect(statement, odbc_text(query->text), (SQLINTEGER)query->len);
	} else {
		if (prepare_params(odbc, statement, query, slots, err) < 0)
			return -1;
		result = SQLExecute(statement);
	}
	if (!SQL_SUCCEEDED(result) && result != SQL_NO_DATA)
		return odbc_fail(odbc, SQL_HANDLE_STMT, statement, err);
	return 0;
}

static void end_statement(SQLHSTMT statement)
{
	cancel_end();
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
}

static SQLHSTMT make_statement(struct odbc *odbc, struct err *err)
{
	SQLHSTMT statement = SQL_NULL_HANDLE;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement))) {
		(void)odbc_fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
		return SQL_NULL_HANDLE;
	}
	cancel_begin(cancel, statement);
	if (cancel_requested()) {
		end_statement(statement);
		(void)cancel_fail(err);
		return SQL_NULL_HANDLE;
	}
	return statement;
}

static int run_by_driver(struct odbc *odbc, const struct query *query, struct sink *sink,
			 struct err *err)
{
	SQLHSTMT statement = make_statement(odbc, err);
	int result;

	if (statement == SQL_NULL_HANDLE)
		return -1;
	maria_stream(odbc->stores_rows);
	result = execute(odbc, statement, query, err);
	odbc->begun = odbc->begun || result == 0;
	if (result == 0)
		result = odbc_rows_put(statement, &odbc->how, sink, err);
	if (result == ODBC_ROWS_DRIVER)
		result = odbc_fail(odbc, SQL_HANDLE_STMT, statement, err);
	end_statement(statement);
	maria_stream(false);
	if (result == 0 && odbc->dialect == SQL_MYSQL)
		maria_warn(sink);
	return result;
}

/* ---- PostgreSQL, without the driver ---- */

static int run_text(struct odbc *odbc, const struct pq_query *query, struct sink *sink,
		    struct err *err)
{
	int result;

	cancel_begin(cancel, SQL_NULL_HANDLE);
	result = cancel_requested() ? -1 : pq_rows_run(query, sink, (char *)odbc->state, err);
	if (result < 0 && cancel_requested())
		result = cancel_fail(err);
	cancel_end();
	return result;
}

static int run_without_driver(struct odbc *odbc, const struct query *query, struct sink *sink,
			      struct err *err)
{
	cleanup_free char *text = NULL;

	if (odbc_params_match(odbc->dialect, query, err) < 0 ||
	    odbc_params_check(query->params, err) < 0)
		return -1;
	text = pq_params_number(query, err);
	if (text == NULL)
		return -1;
	return run_text(odbc, &(struct pq_query){ .text = text, .params = query->params }, sink,
			err);
}

static int run_on_best_path(struct odbc *odbc, const struct query *query, struct sink *sink,
			    struct err *err)
{
	if (odbc->dialect == SQL_POSTGRESQL && pq_can_run())
		return run_without_driver(odbc, query, sink, err);
	return run_by_driver(odbc, query, sink, err);
}

/* Runs the query in a transaction that is rolled back in every case. */
static int run_apart(struct odbc *odbc, const struct query *query, struct sink *sink,
		     struct err *err)
{
	int result;

	pq_forget_error();
	result = begin_transaction(odbc, query, err);
	/*
	 * Elsewhere no statement has been sent yet: the query itself shows whether the connection
	 * is lost.
	 */
	odbc->begun =
		result == 0 && (odbc->dialect == SQL_POSTGRESQL || odbc->dialect == SQL_MYSQL);
	if (result == 0)
		result = run_on_best_path(odbc, query, sink, err);
	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	return result;
}

int odbc_run(struct odbc *odbc, const struct query *query, struct sink *sink, struct err *err)
{
	int result;

	odbc->state[0] = '\0';
	odbc->native = 0;
	odbc->begun = false;
	if (odbc_params_limit(odbc->dialect, query, err) < 0)
		return -1;
	result = run_apart(odbc, query, sink, err);
	if (result < 0)
		odbc_explain(odbc, query, err);
	return result;
}

/* Returns true for Connector/C's errors: gone away, lost, out of sync, malformed packet. */
static bool is_broken(const struct odbc *odbc)
{
	static const SQLINTEGER numbers[] = { 2006, 2013, 2014, 2027, 2055 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (odbc->dialect == SQL_MYSQL && odbc->native == numbers[i])
			return true;
	return false;
}

/* Returns true when the driver reports a lost connection, by the state or when asked. */
bool odbc_is_lost(const struct odbc *odbc, bool *ret_begun)
{
	static const char *const states[] = { "08", "57P", "HYT01" };
	const char *state = (const char *)odbc->state;
	SQLUINTEGER dead = SQL_CD_FALSE;
	bool lost = is_broken(odbc);

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		lost = lost || strncmp(state, states[i], strlen(states[i])) == 0;
	if (!lost && SQL_SUCCEEDED(SQLGetConnectAttr(odbc->link, SQL_ATTR_CONNECTION_DEAD, &dead,
						     sizeof(dead), NULL)))
		lost = dead == SQL_CD_TRUE;
	*ret_begun = odbc->begun;
	return lost;
}

/*
 * Removes what outlives a transaction: PostgreSQL's advisory locks, and much of MariaDB's session.
 */
bool odbc_rest(struct odbc *odbc)
{
	struct err err;
	bool kept = true;

	if (odbc->dialect == SQL_POSTGRESQL && odbc->begun) {
		kept = odbc_execute(odbc, "SELECT pg_advisory_unlock_all()", &err) == 0;
		(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	}
	if (odbc->dialect == SQL_MYSQL && odbc->begun)
		kept = odbc_renew(odbc);
	odbc->begun = false;
	return kept;
}
