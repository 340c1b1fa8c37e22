/* SPDX-License-Identifier: MIT */
#include "odbc.h"

#include <locale.h>
#include <sql.h>
#include <sqlext.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "odbc_params.h"
#include "odbc_rows.h"
#include "sql/connection.h"
#include "stop.h"

enum {
	LOGIN_SECONDS = 15,
	MESSAGE_MAX = 1024,
	MS = 1000,
	ABANDONED_MS = 5000, /* from when the server would have stopped a query */
	LOOK_MS = 2000,      /* between looks of the database whether we are still there */
};

struct odbc {
	SQLHENV env;
	SQLHDBC link;
	bool linked;
	struct odbc_rows_how how;
	enum sql_dialect dialect;
	int64_t own_timeout_ms; /* what the database allows this login, 0: any */
	bool can_look;          /* the database can look whether we are still there */
	SQLCHAR state[6];       /* of the last failure; none when a query starts */
	bool begun;             /* the query may have come to the database */
	char *password;         /* not to be shown in any message, or NULL */
};

/* ODBC takes strings that are not const and does not write to them. */
static SQLCHAR *text_of(const char *s)
{
	return (SQLCHAR *)(uintptr_t)s;
}

static SQLPOINTER number_of(uintptr_t n)
{
	return (SQLPOINTER)n;
}

/* ---- failures ---- */

static void hide(char *message, const char *secret)
{
	char *found;

	while (secret != NULL && secret[0] != '\0' && (found = strstr(message, secret)) != NULL)
		memset(found, '*', strlen(secret));
}

/* "[Vendor][Driver]ERROR: text;\nwhat psqlodbc was doing": only the text. */
static const char *trim(char *message)
{
	static const char error[] = "ERROR: ";
	char *doing = memrchr(message, '\n', strlen(message));

	while (*message == '[' && strchr(message, ']') != NULL)
		message = strchr(message, ']') + 1;
	message += strspn(message, " ");
	if (strncmp(message, error, sizeof(error) - 1) != 0)
		return message;
	if (doing != NULL && doing > message && doing[-1] == ';')
		doing[-1] = '\0';
	return message + sizeof(error) - 1;
}

static int fail(struct odbc *odbc, SQLSMALLINT kind, SQLHANDLE handle, struct err *err)
{
	SQLCHAR message[MESSAGE_MAX] = "";
	SQLINTEGER native = 0;
	SQLSMALLINT len = 0;

	if (stop_requested())
		return stop_fail(err);
	odbc->state[0] = '\0';
	(void)SQLGetDiagRec(kind, handle, 1, odbc->state, &native, message, sizeof(message), &len);
	hide((char *)message, odbc->password);
	return err_set(err, ERR_INVALID, "%s (SQLSTATE %s)", trim((char *)message),
		       (const char *)odbc->state);
}

/* ---- the connection ---- */

static int set_up(struct odbc *odbc, struct err *err)
{
	if (SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &odbc->env) != SQL_SUCCESS)
		return err_set(err, ERR_SYSTEM, "unixODBC does not start");
	(void)SQLSetEnvAttr(odbc->env, SQL_ATTR_ODBC_VERSION, number_of(SQL_OV_ODBC3), 0);
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, odbc->env, &odbc->link)))
		return fail(odbc, SQL_HANDLE_ENV, odbc->env, err);
	(void)SQLSetConnectAttr(odbc->link, SQL_ATTR_LOGIN_TIMEOUT, number_of(LOGIN_SECONDS), 0);
	(void)SQLSetConnectAttr(odbc->link, SQL_ATTR_ACCESS_MODE, number_of(SQL_MODE_READ_ONLY), 0);
	return 0;
}

/*
 * Options of psqlodbc: rows by cursor instead of all at once, and truth as truth. SQL Server's
 * drivers say by theirs that a replica which can only be read will do.
 */
static void add_defaults(struct buf *string, enum sql_dialect dialect)
{
	cleanup_free char *few = xasprintf("%d", ODBC_ROWS_FEW);

	if (dialect == SQL_TSQL)
		connection_default(string, "ApplicationIntent", "ReadOnly");
	if (dialect != SQL_POSTGRESQL)
		return;
	connection_default(string, "UseDeclareFetch", "1");
	connection_default(string, "Fetch", few);
	connection_default(string, "BoolsAsChar", "0");
	connection_default(string, "ByteaAsLongVarBinary", "1");
}

static int link_up(struct odbc *odbc, const char *connection, struct err *err)
{
	SQLRETURN result = SQLDriverConnect(odbc->link, NULL, text_of(connection), SQL_NTS, NULL, 0,
					    NULL, SQL_DRIVER_NOPROMPT);

	if (!SQL_SUCCEEDED(result))
		return fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	odbc->linked = true;
	return 0;
}

/* Says what only newer ones find wrong, and names no server: nobody is asked. */
static bool is_old_freetds(struct odbc *odbc, const char *string)
{
	cleanup_free char *driver = connection_get(string, "Driver");
	cleanup_free char *probe = xasprintf("Driver=%s;APP={a}b};", driver);
	SQLCHAR message[MESSAGE_MAX] = "";
	SQLCHAR state[6] = "";
	SQLINTEGER native = 0;
	SQLSMALLINT len = 0;

	(void)SQLDriverConnect(odbc->link, NULL, text_of(probe), SQL_NTS, NULL, 0, NULL,
			       SQL_DRIVER_NOPROMPT);
	(void)SQLGetDiagRec(SQL_HANDLE_DBC, odbc->link, 1, state, &native, message, sizeof(message),
			    &len);
	return strstr((const char *)message, "Syntax error") == NULL;
}

static int adapt(struct odbc *odbc, struct buf *string, struct err *err)
{
	bool old =
		connection_asks_version(buf_str(string)) && is_old_freetds(odbc, buf_str(string));

	return connection_adapt(string, old, err);
}

static void learn(struct odbc *odbc)
{
	const SQLUINTEGER needed =
		SQL_GD_ANY_COLUMN | SQL_GD_ANY_ORDER | SQL_GD_BLOCK | SQL_GD_BOUND;
	char product[MESSAGE_MAX] = "";
	SQLUINTEGER extensions = 0;
	SQLSMALLINT len = 0;

	if (SQL_SUCCEEDED(SQLGetInfo(odbc->link, SQL_DBMS_NAME, product, sizeof(product), &len)))
		odbc->dialect = dialect_of_product(product);
	odbc->how.exact_reals = odbc->dialect == SQL_POSTGRESQL;
	odbc->how.small_integers = odbc->dialect == SQL_POSTGRESQL;
	odbc->how.blocks = SQL_SUCCEEDED(SQLGetInfo(odbc->link, SQL_GETDATA_EXTENSIONS, &extensions,
						    sizeof(extensions), &len)) &&
			   (extensions & needed) == needed;
}

/* A DSN tells its dialect only now: once more, with what that dialect needs. */
static int link_again(struct odbc *odbc, struct buf *string, struct err *err)
{
	(void)SQLDisconnect(odbc->link);
	odbc->linked = false;
	add_defaults(string, odbc->dialect);
	return link_up(odbc, buf_str(string), err);
}

static int run_set(struct odbc *odbc, const char *sql, struct err *err)
{
	SQLHSTMT statement;
	SQLRETURN result;
	int failed = 0;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement)))
		return fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	result = SQLExecDirect(statement, text_of(sql), SQL_NTS);
	if (!SQL_SUCCEEDED(result) && result != SQL_NO_DATA)
		failed = fail(odbc, SQL_HANDLE_STMT, statement, err);
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	return failed;
}

/* The one number that a query gives; false when there is none, or it cannot be asked. */
static bool ask(struct odbc *odbc, const char *sql, int64_t *ret_number)
{
	SQLHSTMT statement;
	SQLBIGINT number = 0;
	SQLLEN len = 0;
	bool found;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement)))
		return false;
	found = SQL_SUCCEEDED(SQLExecDirect(statement, text_of(sql), SQL_NTS)) &&
		SQL_SUCCEEDED(SQLFetch(statement)) &&
		SQL_SUCCEEDED(SQLGetData(statement, 1, SQL_C_SBIGINT, &number, 0, &len));
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	if (found && ret_number != NULL)
		*ret_number = number;
	return found;
}

/* Neither is raised: a login's own limit is there for a reason. */
static void learn_limits(struct odbc *odbc)
{
	int64_t look_ms = 0;

	if (odbc->dialect != SQL_POSTGRESQL)
		return;
	(void)ask(odbc, "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'",
		  &odbc->own_timeout_ms);
	odbc->can_look = ask(odbc,
			     "SELECT setting FROM pg_settings WHERE name = "
			     "'client_connection_check_interval'",
			     &look_ms) &&
			 look_ms == 0;
}

/*
 * A transaction of SQL Server that sees what was there when it began, and waits for nobody. Before
 * the first transaction, and only where the database has it: queries fail elsewhere.
 */
static int prefer_snapshot(struct odbc *odbc, struct err *err)
{
	if (odbc->dialect != SQL_TSQL ||
	    !ask(odbc,
		 "SELECT 1 FROM sys.databases WHERE database_id = DB_ID() AND "
		 "snapshot_isolation_state = 1",
		 NULL))
		return 0;
	return run_set(odbc, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT", err);
}

void odbc_close(struct odbc *odbc)
{
	if (odbc->linked)
		(void)SQLDisconnect(odbc->link);
	if (odbc->link != NULL)
		(void)SQLFreeHandle(SQL_HANDLE_DBC, odbc->link);
	if (odbc->env != NULL)
		(void)SQLFreeHandle(SQL_HANDLE_ENV, odbc->env);
	free(odbc->password);
	free(odbc);
}

static int start(struct odbc *odbc, const char *connection, struct err *err)
{
	cleanup_buf struct buf string = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *fetch = connection_get(connection, "Fetch");
	enum sql_dialect told = connection_dialect(connection);

	odbc->password = connection_get(connection, "PWD");
	if (odbc->password == NULL)
		odbc->password = connection_get(connection, "Password");
	buf_puts(&string, connection);
	add_defaults(&string, told);
	if (set_up(odbc, err) < 0 || adapt(odbc, &string, err) < 0 ||
	    link_up(odbc, buf_str(&string), err) < 0)
		return -1;
	learn(odbc);
	if (odbc->dialect != told && odbc->dialect == SQL_POSTGRESQL &&
	    link_again(odbc, &string, err) < 0)
		return -1;
	if (odbc->dialect == SQL_POSTGRESQL && fetch == NULL)
		odbc->how.ahead = odbc->link;
	learn_limits(odbc);
	if (prefer_snapshot(odbc, err) < 0)
		return -1;
	if (!SQL_SUCCEEDED(SQLSetConnectAttr(odbc->link, SQL_ATTR_AUTOCOMMIT,
					     number_of(SQL_AUTOCOMMIT_OFF), 0)))
		return fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	return 0;
}

struct odbc *odbc_open(const char *connection, struct err *err)
{
	struct odbc *odbc = xcalloc(1, sizeof(*odbc));

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	odbc->dialect = SQL_GENERIC;
	if (start(odbc, connection, err) < 0) {
		(void)err_wrap(err, "connecting to the database%s",
			       connection_hint((const char *)odbc->state));
		odbc_close(odbc);
		return NULL;
	}
	return odbc;
}

enum sql_dialect odbc_dialect(const struct odbc *odbc)
{
	return odbc->dialect;
}

/* ---- a query ---- */

static void cancel(void *statement)
{
	(void)SQLCancel(statement);
}

/*
 * The database's own word that nothing is written, and that a query ends when we were killed and
 * could not cancel it. One text: READ ONLY holds for the transaction only in its first statement,
 * before the savepoints that psqlodbc sets.
 */
static int set_limits(struct odbc *odbc, uint64_t timeout_ms, struct err *err)
{
	uint64_t most = timeout_ms + ABANDONED_MS;
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&sql, "SET TRANSACTION READ ONLY;SET LOCAL standard_conforming_strings = on;"
		       "SET LOCAL bytea_output = hex");
	if (timeout_ms > 0 && (odbc->own_timeout_ms == 0 || (uint64_t)odbc->own_timeout_ms > most))
		buf_putf(&sql, ";SET LOCAL statement_timeout = %ju", (uintmax_t)most);
	if (odbc->can_look)
		buf_putf(&sql, ";SET LOCAL client_connection_check_interval = %d", LOOK_MS);
	return run_set(odbc, buf_str(&sql), err);
}

static int begin(struct odbc *odbc, uint64_t timeout_ms, struct err *err)
{
	if (odbc->dialect != SQL_POSTGRESQL || set_limits(odbc, timeout_ms, err) == 0)
		return 0;
	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	/* Not all systems that PostgreSQL runs on can look. */
	if (odbc->can_look && !stop_requested()) {
		odbc->can_look = false;
		return begin(odbc, timeout_ms, err);
	}
	return err_wrap(err, "beginning a read-only transaction");
}

/* Elsewhere that is the driver's: it gives up, and who is gone has no connection any more. */
static void limit(struct odbc *odbc, SQLHSTMT statement, uint64_t timeout_ms)
{
	if (odbc->dialect != SQL_POSTGRESQL && timeout_ms > 0)
		(void)SQLSetStmtAttr(statement, SQL_ATTR_QUERY_TIMEOUT,
				     number_of((timeout_ms + ABANDONED_MS) / MS), 0);
}

static int bind_all(struct odbc *odbc, SQLHSTMT statement, const json_t *params,
		    struct odbc_param *slots, struct err *err)
{
	int result = odbc_params_bind(statement, odbc->dialect, params, slots, err);

	return result == ODBC_PARAMS_DRIVER ? fail(odbc, SQL_HANDLE_STMT, statement, err) : result;
}

static int execute(struct odbc *odbc, SQLHSTMT statement, const struct query *query,
		   struct err *err)
{
	const json_t *params = query->params;
	SQLCHAR *sql = text_of(query->text);
	SQLINTEGER len = (SQLINTEGER)query->len;
	cleanup_free struct odbc_param *slots =
		xcalloc(json_array_size(params) + 1, sizeof(*slots));
	SQLRETURN result;

	(void)SQLSetStmtAttr(statement, SQL_ATTR_NOSCAN, number_of(SQL_NOSCAN_ON), 0);
	limit(odbc, statement, query->timeout_ms);
	if (json_array_size(params) == 0) {
		result = SQLExecDirect(statement, sql, len);
	} else {
		if (!SQL_SUCCEEDED(SQLPrepare(statement, sql, len)))
			return fail(odbc, SQL_HANDLE_STMT, statement, err);
		if (bind_all(odbc, statement, params, slots, err) < 0)
			return -1;
		result = SQLExecute(statement);
	}
	if (!SQL_SUCCEEDED(result) && result != SQL_NO_DATA)
		return fail(odbc, SQL_HANDLE_STMT, statement, err);
	return 0;
}

static SQLHSTMT make_statement(struct odbc *odbc, struct err *err)
{
	SQLHSTMT statement = SQL_NULL_HANDLE;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement))) {
		(void)fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
		return SQL_NULL_HANDLE;
	}
	stop_begin(cancel, statement);
	return statement;
}

static void end_statement(SQLHSTMT statement)
{
	stop_end();
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
}

/* `prepared` has the columns, if it is not NULL. *ret_begun: it failed, if at all, among rows. */
static int run_query(struct odbc *odbc, SQLHSTMT prepared, const struct query *query,
		     struct sink *sink, bool *ret_begun, struct err *err)
{
	SQLHSTMT statement = make_statement(odbc, err);
	int result;

	if (statement == SQL_NULL_HANDLE)
		return -1;
	result = execute(odbc, statement, query, err);
	*ret_begun = result == 0;
	odbc->begun = odbc->begun || result == 0;
	if (result == 0)
		result = odbc_rows_put(statement, prepared != NULL ? prepared : statement,
				       &odbc->how, sink, err);
	if (result == ODBC_ROWS_DRIVER)
		result = fail(odbc, SQL_HANDLE_STMT, statement, err);
	end_statement(statement);
	return result;
}

static int run_plain(struct odbc *odbc, const struct query *query, struct sink *sink,
		     struct err *err)
{
	bool begun;

	return run_query(odbc, NULL, query, sink, &begun, err);
}

/* ---- rows as texts ---- */

/*
 * A driver handles each value of a row for itself, which takes longer than all else. PostgreSQL
 * writes a row as one text in the same time as its values, and by the same functions.
 */
static bool can_pack(const struct odbc *odbc, const struct query *query)
{
	static const char explain[] = "EXPLAIN";

	return odbc->dialect == SQL_POSTGRESQL && odbc->how.blocks &&
	       strncasecmp(query->text, explain, sizeof(explain) - 1) != 0;
}

/* The columns of the query, which is not run. */
static int prepare(struct odbc *odbc, SQLHSTMT statement, const struct query *query,
		   struct err *err)
{
	SQLSMALLINT count = 0;

	(void)SQLSetStmtAttr(statement, SQL_ATTR_NOSCAN, number_of(SQL_NOSCAN_ON), 0);
	if (!SQL_SUCCEEDED(SQLPrepare(statement, text_of(query->text), (SQLINTEGER)query->len)))
		return fail(odbc, SQL_HANDLE_STMT, statement, err);
	if (odbc_params_count(statement, odbc->dialect, query->params, err) < 0)
		return -1;
	if (!SQL_SUCCEEDED(SQLNumResultCols(statement, &count)))
		return fail(odbc, SQL_HANDLE_STMT, statement, err);
	return 0;
}

static int run_packed(struct odbc *odbc, SQLHSTMT prepared, const struct query *query,
		      struct sink *sink, bool *ret_begun, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct query packed = *query;

	buf_puts(&text, "SELECT ROW(ptycell.*)::text FROM (");
	buf_put(&text, query->text, query->len);
	buf_puts(&text, "\n) ptycell");
	packed.text = buf_str(&text);
	packed.len = text.len;
	return run_query(odbc, prepared, &packed, sink, ret_begun, err);
}

/* "Syntax error or access rule violation", "feature not supported": it may be our part of it. */
static bool is_misunderstood(const struct odbc *odbc)
{
	return memcmp(odbc->state, "42", 2) == 0 || memcmp(odbc->state, "0A", 2) == 0;
}

/* 1: it has to be run plainly. */
static int try_packed(struct odbc *odbc, const struct query *query, struct sink *sink,
		      struct err *err)
{
	SQLHSTMT prepared = make_statement(odbc, err);
	bool begun = true;
	int result;

	if (prepared == SQL_NULL_HANDLE)
		return -1;
	result = prepare(odbc, prepared, query, err);
	stop_end();
	if (result == 0 && odbc_rows_are_plain(prepared))
		result = run_query(odbc, NULL, query, sink, &begun, err);
	else if (result == 0)
		result = run_packed(odbc, prepared, query, sink, &begun, err);
	(void)SQLFreeHandle(SQL_HANDLE_STMT, prepared);
	return result < 0 && !begun && is_misunderstood(odbc) && !stop_requested() ? 1 : result;
}

/* In a transaction that is over afterwards, however that went. */
static int run_apart(struct odbc *odbc, const struct query *query, struct sink *sink, bool packed,
		     struct err *err)
{
	int result = begin(odbc, query->timeout_ms, err);

	/* Elsewhere nothing was asked yet: the query itself finds out whether it is lost. */
	odbc->begun = result == 0 && odbc->dialect == SQL_POSTGRESQL;
	if (result == 0)
		result = packed ? try_packed(odbc, query, sink, err)
				: run_plain(odbc, query, sink, err);
	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	return result;
}

int odbc_run(struct odbc *odbc, const struct query *query, struct sink *sink, struct err *err)
{
	int result;

	odbc->state[0] = '\0';
	odbc->begun = false;
	result = can_pack(odbc, query) ? run_apart(odbc, query, sink, true, err) : 1;
	return result == 1 ? run_apart(odbc, query, sink, false, err) : result;
}

/* Some drivers say so by the state, some only when asked. */
bool odbc_is_lost(const struct odbc *odbc, bool *ret_begun)
{
	static const char *const states[] = { "08", "57P", "HYT01" };
	const char *state = (const char *)odbc->state;
	SQLUINTEGER dead = SQL_CD_FALSE;
	bool lost = false;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		lost = lost || strncmp(state, states[i], strlen(states[i])) == 0;
	if (!lost && SQL_SUCCEEDED(SQLGetConnectAttr(odbc->link, SQL_ATTR_CONNECTION_DEAD, &dead,
						     sizeof(dead), NULL)))
		lost = dead == SQL_CD_TRUE;
	*ret_begun = odbc->begun;
	return lost;
}
