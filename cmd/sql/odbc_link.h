/* SPDX-License-Identifier: MIT */
/* odbc_link.h - the connection of odbc.h: how it is made, what it is told, why it fails. */
#ifndef SQL_ODBC_LINK_H
#define SQL_ODBC_LINK_H

#include <sql.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "odbc_rows.h"
#include "query.h"
#include "sql/dialect.h"

/* Whether what MariaDB's connection is reset to is a new one. */
enum odbc_renewal { RENEWAL_UNTRIED, RENEWAL_WORKS, RENEWAL_FAILS };

struct odbc {
	SQLHENV env;
	SQLHDBC link;
	bool linked;
	struct odbc_rows_how how;
	enum sql_dialect dialect;
	int64_t own_timeout_ms; /* what the database allows this login, 0: any */
	bool is_mariadb;        /* and not MySQL */
	bool stores_rows;       /* its driver does all of a result (maria.h) */
	bool can_look;          /* the database can look whether we are still there */
	SQLCHAR state[6];       /* of the last failure; none when a query starts */
	SQLINTEGER native;      /* its number, of the database's own */
	bool begun;             /* the query may have come to the database */
	char *settings;         /* SET ... of what a new connection to MariaDB has; NULL: unknown */
	int64_t variables;      /* all of that in one number */
	enum odbc_renewal renewal;
	char *password; /* not to be shown in any message, or NULL */
};

/* ODBC takes strings that are not const and does not write to them. */
SQLCHAR *odbc_text(const char *s);
SQLPOINTER odbc_number(uintptr_t n);
/* -1 with the first diagnostic of `handle`, or that somebody asked to stop. */
int odbc_fail(struct odbc *odbc, SQLSMALLINT kind, SQLHANDLE handle, struct err *err);
/* Puts below the message of a query's failure what the driver did not pass on. */
void odbc_explain(const struct odbc *odbc, const struct query *query, struct err *err);
/*
 * MariaDB's connection as it was new; false: it cannot be. A query leaves much in it: @variables,
 * locks by name, and whatever the functions that it called have set.
 */
bool odbc_renew(struct odbc *odbc) MUST_CHECK;
/* Runs what gives no rows. */
int odbc_tell(struct odbc *odbc, const char *sql, struct err *err) MUST_CHECK;

#endif
