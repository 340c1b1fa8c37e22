/* SPDX-License-Identifier: MIT */
#include "odbc.h"

#include <locale.h>
#include <sql.h>
#include <sqlext.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "odbc_rows.h"
#include "sql/connection.h"
#include "stop.h"

enum { LOGIN_SECONDS = 15, MESSAGE_MAX = 1024, PLAIN_PARAM_MAX = 4000 };

struct odbc {
	SQLHENV env;
	SQLHDBC link;
	bool linked;
	struct odbc_rows_how how;
	enum sql_dialect dialect;
	char *password; /* not to be shown in any message, or NULL */
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

/* "[Vendor][Driver]text": only the text. */
static const char *skip_names(const char *message)
{
	while (*message == '[' && strchr(message, ']') != NULL)
		message = strchr(message, ']') + 1;
	return message + strspn(message, " ");
}

static int fail(const struct odbc *odbc, SQLSMALLINT kind, SQLHANDLE handle, struct err *err)
{
	SQLCHAR message[MESSAGE_MAX] = "";
	SQLCHAR state[6] = "";
	SQLINTEGER native = 0;
	SQLSMALLINT len = 0;

	if (stop_requested())
		return stop_fail(err);
	(void)SQLGetDiagRec(kind, handle, 1, state, &native, message, sizeof(message), &len);
	hide((char *)message, odbc->password);
	return err_set(err, ERR_INVALID, "%s (SQLSTATE %s)", skip_names((const char *)message),
		       (const char *)state);
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
	if (dialect == SQL_TSQL)
		connection_default(string, "ApplicationIntent", "ReadOnly");
	if (dialect != SQL_POSTGRESQL)
		return;
	connection_default(string, "UseDeclareFetch", "1");
	connection_default(string, "Fetch", "2000");
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

static int run_set(const struct odbc *odbc, const char *sql, struct err *err)
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

/* False also when it cannot be asked. */
static bool has_row(const struct odbc *odbc, const char *sql)
{
	SQLHSTMT statement;
	bool found;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement)))
		return false;
	found = SQL_SUCCEEDED(SQLExecDirect(statement, text_of(sql), SQL_NTS)) &&
		SQL_SUCCEEDED(SQLFetch(statement));
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	return found;
}

/*
 * A transaction of SQL Server that sees what was there when it began, and waits for nobody. Before
 * the first transaction, and only where the database has it: queries fail elsewhere.
 */
static int prefer_snapshot(const struct odbc *odbc, struct err *err)
{
	if (odbc->dialect != SQL_TSQL ||
	    !has_row(odbc, "SELECT 1 FROM sys.databases WHERE database_id = DB_ID() AND "
			   "snapshot_isolation_state = 1"))
		return 0;
	return run_set(odbc, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT", err);
}

static void release(struct odbc *odbc)
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
	enum sql_dialect told = connection_dialect(connection);

	odbc->password = connection_get(connection, "PWD");
	if (odbc->password == NULL)
		odbc->password = connection_get(connection, "Password");
	buf_puts(&string, connection);
	add_defaults(&string, told);
	connection_adapt(&string);
	if (set_up(odbc, err) < 0 || link_up(odbc, buf_str(&string), err) < 0)
		return -1;
	learn(odbc);
	if (odbc->dialect != told && odbc->dialect == SQL_POSTGRESQL &&
	    link_again(odbc, &string, err) < 0)
		return -1;
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
		(void)err_wrap(err, "connecting to the database");
		release(odbc);
		return NULL;
	}
	return odbc;
}

enum sql_dialect odbc_dialect(const struct odbc *odbc)
{
	return odbc->dialect;
}

/* ---- parameters ---- */

struct query {
	const char *sql;
	size_t len;
	const json_t *params;
};

struct param {
	SQLLEN len;
	SQLBIGINT integer;
	double real;
	unsigned char truth;
};

static SQLRETURN bind_text(SQLHSTMT statement, SQLUSMALLINT index, const json_t *value,
			   struct param *param)
{
	size_t len = json_string_length(value);

	param->len = (SQLLEN)len;
	return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_CHAR,
				len > PLAIN_PARAM_MAX ? SQL_LONGVARCHAR : SQL_VARCHAR,
				len > 0 ? len : 1, 0, text_of(json_string_value(value)),
				(SQLLEN)len, &param->len);
}

static SQLRETURN bind(SQLHSTMT statement, SQLUSMALLINT index, const json_t *value,
		      struct param *param)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		param->integer = json_integer_value(value);
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_SBIGINT,
					SQL_BIGINT, 0, 0, &param->integer, 0, &param->len);
	case JSON_REAL:
		param->real = json_real_value(value);
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_DOUBLE, SQL_DOUBLE,
					0, 0, &param->real, 0, &param->len);
	case JSON_TRUE:
	case JSON_FALSE:
		param->truth = json_is_true(value);
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_BIT, SQL_BIT, 0, 0,
					&param->truth, 0, &param->len);
	case JSON_STRING:
		return bind_text(statement, index, value, param);
	default:
		param->len = SQL_NULL_DATA;
		return SQLBindParameter(statement, index, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
					1, 0, NULL, 0, &param->len);
	}
}

static int bind_all(const struct odbc *odbc, SQLHSTMT statement, const json_t *params,
		    struct param *slots, struct err *err)
{
	SQLSMALLINT wanted = 0;
	size_t index;
	json_t *value;

	if (SQL_SUCCEEDED(SQLNumParams(statement, &wanted)) &&
	    (size_t)wanted != json_array_size(params))
		return err_set(err, ERR_INVALID, "the query has %d parameters, params has %zu",
			       wanted, json_array_size(params));
	json_array_foreach (params, index, value)
		if (!SQL_SUCCEEDED(
			    bind(statement, (SQLUSMALLINT)(index + 1), value, &slots[index])))
			return fail(odbc, SQL_HANDLE_STMT, statement, err);
	return 0;
}

/* ---- a query ---- */

static void cancel(void *statement)
{
	(void)SQLCancel(statement);
}

/* The database's own word that nothing is written. */
static int begin(const struct odbc *odbc, struct err *err)
{
	if (odbc->dialect != SQL_POSTGRESQL)
		return 0;
	if (run_set(odbc, "SET TRANSACTION READ ONLY", err) < 0 ||
	    run_set(odbc, "SET LOCAL standard_conforming_strings = on", err) < 0)
		return err_wrap(err, "beginning a read-only transaction");
	return 0;
}

static int execute(const struct odbc *odbc, SQLHSTMT statement, const struct query *query,
		   struct sink *sink, struct err *err)
{
	const json_t *params = query->params;
	SQLCHAR *sql = text_of(query->sql);
	SQLINTEGER len = (SQLINTEGER)query->len;
	cleanup_free struct param *slots = xcalloc(json_array_size(params) + 1, sizeof(*slots));
	SQLRETURN result;
	int put;

	(void)SQLSetStmtAttr(statement, SQL_ATTR_NOSCAN, number_of(SQL_NOSCAN_ON), 0);
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
	put = odbc_rows_put(statement, &odbc->how, sink, err);
	return put == ODBC_ROWS_DRIVER ? fail(odbc, SQL_HANDLE_STMT, statement, err) : put;
}

int odbc_run(struct odbc *odbc, const char *sql, size_t len, const json_t *params,
	     struct sink *sink, struct err *err)
{
	const struct query query = { .sql = sql, .len = len, .params = params };
	SQLHSTMT statement;
	int result;

	if (begin(odbc, err) < 0)
		return -1;
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement)))
		return fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	stop_begin(cancel, statement);
	result = execute(odbc, statement, &query, sink, err);
	stop_end();
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	return result;
}
