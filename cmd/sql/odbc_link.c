/* SPDX-License-Identifier: MIT */
/*
 * odbc_link.c - connects and prepares a connection. Connecting takes up to three steps: find an
 * installed driver for the kind of database, connect, and connect again if only the database's name
 * revealed its dialect. Afterwards the connection is fixed to what the guard assumes of strings and
 * encodings. For MariaDB the changed session variables are recorded, so that a reset can restore
 * and verify them.
 */
#include "odbc_link.h"

#include <sqlext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "cancel.h"
#include "helper/program.h"
#include "maria.h"
#include "odbc.h"
#include "pq.h"
#include "sql/connection_string.h"
#include "sql/connection_url.h"

enum { LOGIN_SECONDS = 15, MESSAGE_MAX = 1024, HIDDEN_MIN = 4, SETTINGS_MAX = 16 << 10 };

/* Returns a string for ODBC, which takes strings that are not const and does not write to them. */
SQLCHAR *odbc_text(const char *s)
{
	return (SQLCHAR *)(uintptr_t)s;
}

SQLPOINTER odbc_number(uintptr_t n)
{
	return (SQLPOINTER)n;
}

/* ---- failures ---- */

/* Hides the password. A shorter one may occur in words by chance, and the stars would reveal it. */
static void hide(char *message, const char *secret)
{
	const size_t len = secret != NULL ? strlen(secret) : 0;

	if (len < HIDDEN_MIN)
		return;
	for (char *at = message; (at = strstr(at, secret)) != NULL; at += len)
		memset(at, '*', len);
}

/* Returns the text of "[Vendor][Driver]ERROR: text\nDETAIL: more;\nwhat psqlodbc was doing". */
static const char *trim(char *message)
{
	static const char error[] = "ERROR: ";
	char *doing = memrchr(message, '\n', strlen(message));
	char *detail = strstr(message, "\nDETAIL: ");

	while (*message == '[' && strchr(message, ']') != NULL)
		message = strchr(message, ']') + 1;
	message += strspn(message, " ");
	if (strncmp(message, error, sizeof(error) - 1) != 0)
		return message;
	if (doing != NULL && doing > message && doing[-1] == ';')
		doing[-1] = '\0';
	if (detail != NULL && pq_has_detail())
		*detail = '\0';
	return message + sizeof(error) - 1;
}

int odbc_fail(struct odbc *odbc, SQLSMALLINT kind, SQLHANDLE handle, struct err *err)
{
	SQLCHAR message[MESSAGE_MAX] = "";
	SQLSMALLINT len = 0;

	if (cancel_requested())
		return cancel_fail(err);
	odbc->state[0] = '\0';
	odbc->native = 0;
	(void)SQLGetDiagRec(kind, handle, 1, odbc->state, &odbc->native, message, sizeof(message),
			    &len);
	hide((char *)message, odbc->password);
	return err_set(err, ERR_INVALID, "%s (SQLSTATE %s)", trim((char *)message),
		       (const char *)odbc->state);
}

/*
 * Returns true for an untyped parameter, which PostgreSQL rejects although it treats such a literal
 * as text.
 */
static bool lacks_type(const struct odbc *odbc, const char *message)
{
	return odbc->dialect == SQL_POSTGRESQL && str_eq((const char *)odbc->state, "42P18") &&
	       strstr(message, "parameter $") != NULL;
}

void odbc_explain(const struct odbc *odbc, const struct query *query, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *whole = NULL;

	if (err->code != ERR_INVALID)
		return;
	buf_puts(&text, err->msg);
	pq_explain(&text, query);
	if (lacks_type(odbc, err->msg))
		buf_puts(&text, "\nhint: nothing says what the text or NULL of params is meant as; "
				"?::text says it");
	whole = buf_steal(&text);
	hide(whole, odbc->password);
	(void)err_set(err, ERR_INVALID, "%s", whole);
}

/* ---- the connection ---- */

static int set_up(struct odbc *odbc, struct err *err)
{
	if (SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &odbc->env) != SQL_SUCCESS)
		return err_set(err, ERR_SYSTEM, "unixODBC does not start");
	(void)SQLSetEnvAttr(odbc->env, SQL_ATTR_ODBC_VERSION, odbc_number(SQL_OV_ODBC3), 0);
	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, odbc->env, &odbc->link)))
		return odbc_fail(odbc, SQL_HANDLE_ENV, odbc->env, err);
	(void)SQLSetConnectAttr(odbc->link, SQL_ATTR_LOGIN_TIMEOUT, odbc_number(LOGIN_SECONDS), 0);
	(void)SQLSetConnectAttr(odbc->link, SQL_ATTR_ACCESS_MODE, odbc_number(SQL_MODE_READ_ONLY),
				0);
	return 0;
}

/*
 * Options of psqlodbc: bound parameters, rows by cursor instead of all at once, booleans as such.
 * MariaDB's driver streams rows, from version 3.1.17 on by itself. SQL Server's drivers declare
 * that a read-only replica is enough.
 */
static void add_defaults(struct buf *string, enum sql_dialect dialect)
{
	cleanup_free char *few = xasprintf("%d", ODBC_ROWS_FEW);

	if (dialect == SQL_TSQL)
		connection_default(string, "ApplicationIntent", "ReadOnly");
	if (dialect == SQL_MYSQL) {
		connection_set(string, "CHARSET", "utf8mb4");
		connection_default(string, "FORWARDONLY", "1");
		connection_default(string, "NO_CACHE", "1");
	}
	if (dialect != SQL_POSTGRESQL)
		return;
	connection_default(string, "UseDeclareFetch", "1");
	connection_default(string, "Fetch", few);
	connection_default(string, "BoolsAsChar", "0");
	connection_default(string, "ByteaAsLongVarBinary", "1");
	/* the last one counts; must not be in braces */
	buf_puts(string, ";UseServerSidePrepare=1");
}

static int link_up(struct odbc *odbc, const char *connection, struct err *err)
{
	SQLRETURN result = SQLDriverConnect(odbc->link, NULL, odbc_text(connection), SQL_NTS, NULL,
					    0, NULL, SQL_DRIVER_NOPROMPT);

	if (!SQL_SUCCEEDED(result))
		return odbc_fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	odbc->linked = true;
	return 0;
}

static bool lacks_driver(const struct odbc *odbc)
{
	return connection_hint((const char *)odbc->state)[0] != '\0';
}

/* Sets the driver. A URL says "postgresql" or "mysql": the first installed one for it is used. */
static int find_driver(struct odbc *odbc, struct buf *string, struct err *err)
{
	cleanup_free char *driver = connection_get(buf_str(string), "Driver");
	const char *package;
	const char *const *names = driver != NULL ? connection_drivers(driver, &package) : NULL;

	for (; names != NULL && *names != NULL; names++) {
		connection_set(string, "Driver", *names);
		if (link_up(odbc, buf_str(string), err) == 0) {
			(void)SQLDisconnect(odbc->link);
			odbc->linked = false;
			return 0;
		}
		if (!lacks_driver(odbc))
			return -1;
	}
	if (names == NULL)
		return 0;
	odbc->state[0] = '\0';
	return err_set(err, ERR_NOT_FOUND, "there is no ODBC driver for it here: apt install %s",
		       package);
}

/*
 * Returns true for an old FreeTDS, which does not report an error that newer ones find. The probe
 * names no server, so nothing is contacted.
 */
static bool is_old_freetds(struct odbc *odbc, const char *string)
{
	cleanup_free char *driver = connection_get(string, "Driver");
	cleanup_free char *probe = xasprintf("Driver=%s;APP={a}b};", driver);
	SQLCHAR message[MESSAGE_MAX] = "";
	SQLCHAR state[6] = "";
	SQLINTEGER native = 0;
	SQLSMALLINT len = 0;

	(void)SQLDriverConnect(odbc->link, NULL, odbc_text(probe), SQL_NTS, NULL, 0, NULL,
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

/* Versions have the form "03.01.0015". */
static bool is_old_maodbc(const struct odbc *odbc)
{
	char name[MESSAGE_MAX] = "";
	char version[MESSAGE_MAX] = "";
	SQLSMALLINT len = 0;

	return SQL_SUCCEEDED(SQLGetInfo(odbc->link, SQL_DRIVER_NAME, name, sizeof(name), &len)) &&
	       strstr(name, "maodbc") != NULL &&
	       SQL_SUCCEEDED(
		       SQLGetInfo(odbc->link, SQL_DRIVER_VER, version, sizeof(version), &len)) &&
	       strcmp(version, "03.01.0017") < 0;
}

static void learn_capabilities(struct odbc *odbc)
{
	const SQLUINTEGER needed =
		SQL_GD_ANY_COLUMN | SQL_GD_ANY_ORDER | SQL_GD_BLOCK | SQL_GD_BOUND;
	char product[MESSAGE_MAX] = "";
	SQLUINTEGER extensions = 0;
	SQLSMALLINT len = 0;

	if (SQL_SUCCEEDED(SQLGetInfo(odbc->link, SQL_DBMS_NAME, product, sizeof(product), &len)))
		odbc->dialect = sql_dialect_of_product(product);
	odbc->how.exact_reals = odbc->dialect == SQL_POSTGRESQL;
	odbc->how.small_integers = odbc->dialect == SQL_POSTGRESQL;
	odbc->how.named_types = odbc->dialect == SQL_POSTGRESQL;
	odbc->stores_rows = is_old_maodbc(odbc);
	/* MariaDB's driver claims support, but returns the values of another row. */
	odbc->how.blocks = odbc->dialect != SQL_MYSQL &&
			   SQL_SUCCEEDED(SQLGetInfo(odbc->link, SQL_GETDATA_EXTENSIONS, &extensions,
						    sizeof(extensions), &len)) &&
			   (extensions & needed) == needed;
}

/* Connects again with the options of the dialect, which a DSN reveals only after connecting. */
static int link_again(struct odbc *odbc, struct buf *string, struct err *err)
{
	(void)SQLDisconnect(odbc->link);
	odbc->linked = false;
	add_defaults(string, odbc->dialect);
	return link_up(odbc, buf_str(string), err);
}

int odbc_execute(struct odbc *odbc, const char *sql, struct err *err)
{
	SQLHSTMT statement;
	SQLRETURN result;
	int failed = 0;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement)))
		return odbc_fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	result = SQLExecDirect(statement, odbc_text(sql), SQL_NTS);
	if (!SQL_SUCCEEDED(result) && result != SQL_NO_DATA)
		failed = odbc_fail(odbc, SQL_HANDLE_STMT, statement, err);
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	return failed;
}

/* Reads the only value of a query. Returns false when there is none, or it does not fit. */
static bool ask_value(struct odbc *odbc, const char *sql, SQLSMALLINT c_type, void *ret_value,
		      size_t size)
{
	SQLHSTMT statement;
	SQLLEN len = 0;
	bool found;

	if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, odbc->link, &statement)))
		return false;
	found = SQL_SUCCEEDED(SQLExecDirect(statement, odbc_text(sql), SQL_NTS)) &&
		SQL_SUCCEEDED(SQLFetch(statement)) &&
		SQL_SUCCEEDED(SQLGetData(statement, 1, c_type, ret_value, (SQLLEN)size, &len)) &&
		len < (SQLLEN)size + (c_type != SQL_C_CHAR);
	(void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
	return found;
}

static bool ask(struct odbc *odbc, const char *sql, int64_t *ret_number)
{
	SQLBIGINT number = 0;
	bool found = ask_value(odbc, sql, SQL_C_SBIGINT, &number, sizeof(number));

	if (found && ret_number != NULL)
		*ret_number = number;
	return found;
}

static void learn_postgresql(struct odbc *odbc)
{
	int64_t look_ms = 0;

	(void)ask(odbc, "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'",
		  &odbc->own_timeout_ms);
	odbc->can_look = ask(odbc,
			     "SELECT setting FROM pg_settings WHERE name = "
			     "'client_connection_check_interval'",
			     &look_ms) &&
			 look_ms == 0;
}

/* Reads the login's deadline. MariaDB counts in seconds, MySQL in milliseconds. */
static void learn_mysql(struct odbc *odbc)
{
	odbc->is_mariadb = ask(odbc, "SELECT CAST(@@max_statement_time * 1000 AS SIGNED)",
			       &odbc->own_timeout_ms);
	if (!odbc->is_mariadb)
		(void)ask(odbc, "SELECT @@max_execution_time", &odbc->own_timeout_ms);
}

/* Reads the limits of the login. They are never raised. */
static void learn_limits(struct odbc *odbc)
{
	if (odbc->dialect == SQL_POSTGRESQL)
		learn_postgresql(odbc);
	if (odbc->dialect == SQL_MYSQL)
		learn_mysql(odbc);
}

/*
 * Fixes the meaning of backslashes, brackets and bytes to what the guard assumes: some servers
 * choose a character set themselves, against the client's request.
 */
static int fix_mode(struct odbc *odbc, struct err *err)
{
	if (odbc->dialect != SQL_MYSQL)
		return 0;
	return odbc_execute(
		odbc,
		"SET SESSION autocommit = 0, sql_mode = REPLACE(REPLACE(REPLACE(@@sql_mode, "
		"'NO_BACKSLASH_ESCAPES', ''), 'ORACLE', ''), 'MSSQL', ''), "
		"character_set_client = utf8mb4, character_set_connection = utf8mb4, "
		"character_set_results = utf8mb4",
		err);
}

/*
 * Prefers SQL Server's snapshot isolation, which waits for no writer. It must be set before the
 * first transaction, and only where the database supports it: queries would fail elsewhere.
 */
static int prefer_snapshot(struct odbc *odbc, struct err *err)
{
	if (odbc->dialect != SQL_TSQL ||
	    !ask(odbc,
		 "SELECT 1 FROM sys.databases WHERE database_id = DB_ID() AND "
		 "snapshot_isolation_state = 1",
		 NULL))
		return 0;
	return odbc_execute(odbc, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT", err);
}

/*
 * Returns a checksum of what the driver, an INITSTMT or a file of options has set, and of the
 * login's role.
 */
static int64_t sum_variables(struct odbc *odbc)
{
	int64_t sum = 0;

	(void)ask(odbc,
		  "SELECT SUM(CRC32(CONCAT(variable_name, '=', COALESCE(session_value, '')))) + "
		  "CRC32(COALESCE(CURRENT_ROLE(), '')) FROM information_schema.system_variables "
		  "WHERE variable_scope = 'SESSION'",
		  &sum);
	return sum;
}

static void learn_settings(struct odbc *odbc)
{
	static const char sql[] =
		"SELECT CONCAT('SET SESSION ', GROUP_CONCAT(variable_name, ' = ', IF(variable_type "
		"REGEXP 'INT|DOUBLE', session_value, QUOTE(session_value)))) FROM "
		"information_schema.system_variables WHERE variable_scope = 'SESSION' AND read_only "
		"= 'NO' AND session_value <> global_value";
	cleanup_free char *settings = xcalloc(SETTINGS_MAX, 1);

	if (ask_value(odbc, sql, SQL_C_CHAR, settings, SETTINGS_MAX)) {
		odbc->settings = xstrdup(settings);
		odbc->variables = sum_variables(odbc);
	}
	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
}

static bool is_as_new(struct odbc *odbc)
{
	bool as_new = sum_variables(odbc) == odbc->variables;

	(void)SQLEndTran(SQL_HANDLE_DBC, odbc->link, SQL_ROLLBACK);
	return as_new;
}

bool odbc_renew(struct odbc *odbc)
{
	struct err err;

	if (odbc->settings == NULL || odbc->renewal == RENEWAL_FAILS || !maria_reset() ||
	    odbc_execute(odbc, odbc->settings, &err) < 0 || fix_mode(odbc, &err) < 0)
		return false;
	if (odbc->renewal == RENEWAL_UNTRIED)
		odbc->renewal = is_as_new(odbc) ? RENEWAL_WORKS : RENEWAL_FAILS;
	return odbc->renewal == RENEWAL_WORKS;
}

void odbc_close(struct odbc *odbc)
{
	pq_forget_connection();
	if (odbc->linked)
		(void)SQLDisconnect(odbc->link);
	if (odbc->link != NULL)
		(void)SQLFreeHandle(SQL_HANDLE_DBC, odbc->link);
	if (odbc->env != NULL)
		(void)SQLFreeHandle(SQL_HANDLE_ENV, odbc->env);
	free(odbc->password);
	free(odbc->settings);
	free(odbc);
}

static int open_link(struct odbc *odbc, const char *connection, struct err *err)
{
	cleanup_buf struct buf string = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *fetch = connection_get(connection, "Fetch");
	enum sql_dialect given_dialect = connection_dialect(connection);

	odbc->password = connection_get(connection, "PWD");
	if (odbc->password == NULL)
		odbc->password = connection_get(connection, "Password");
	buf_puts(&string, connection);
	add_defaults(&string, given_dialect);
	if (set_up(odbc, err) < 0 || find_driver(odbc, &string, err) < 0 ||
	    adapt(odbc, &string, err) < 0 || link_up(odbc, buf_str(&string), err) < 0)
		return -1;
	learn_capabilities(odbc);
	if (odbc->dialect != given_dialect &&
	    (odbc->dialect == SQL_POSTGRESQL || odbc->dialect == SQL_MYSQL) &&
	    link_again(odbc, &string, err) < 0)
		return -1;
	if (odbc->dialect == SQL_POSTGRESQL && fetch == NULL)
		odbc->how.ahead = odbc->link;
	learn_limits(odbc);
	if (fix_mode(odbc, err) < 0 || prefer_snapshot(odbc, err) < 0)
		return -1;
	if (!SQL_SUCCEEDED(SQLSetConnectAttr(odbc->link, SQL_ATTR_AUTOCOMMIT,
					     odbc_number(SQL_AUTOCOMMIT_OFF), 0)))
		return odbc_fail(odbc, SQL_HANDLE_DBC, odbc->link, err);
	if (odbc->dialect == SQL_MYSQL)
		learn_settings(odbc);
	return 0;
}

/*
 * Ends the process. A driver may wait for ever when a server accepts the connection and sends
 * nothing.
 */
static void exit_at_deadline(void)
{
	struct err err;

	(void)err_set(&err, ERR_TIMEOUT, "connecting to the database: it did not answer in %d s",
		      LOGIN_SECONDS);
	program_error(&err);
	_exit(EXIT_FAILURE);
}

struct odbc *odbc_open(const char *connection, struct err *err)
{
	struct odbc *odbc = xcalloc(1, sizeof(*odbc));

	(void)setenv("PGAPPNAME", "ptycell", 0);
	odbc->dialect = SQL_GENERIC;
	cancel_at(LOGIN_SECONDS + 1, exit_at_deadline);
	if (open_link(odbc, connection, err) < 0) {
		(void)err_wrap(err, "connecting to the database%s",
			       connection_hint((const char *)odbc->state));
		cancel_at(0, NULL);
		odbc_close(odbc);
		return NULL;
	}
	cancel_at(0, NULL);
	return odbc;
}

enum sql_dialect odbc_dialect(const struct odbc *odbc)
{
	return odbc->dialect;
}
