/* SPDX-License-Identifier: MIT */
/* odbc_link.h - the connection of odbc.h: how it is made and configured, and why it fails. */
#ifndef SQL_ODBC_LINK_H
#define SQL_ODBC_LINK_H

#include <sql.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "odbc_rows.h"
#include "query.h"
#include "sql/sql_dialect.h"

/* Whether resetting MariaDB's connection gives a new one. */
enum odbc_renewal { RENEWAL_UNTRIED, RENEWAL_WORKS, RENEWAL_FAILS };

struct odbc {
	SQLHENV env;
	SQLHDBC link;
	bool linked;
	struct odbc_rows_how how;
	enum sql_dialect dialect;
	int64_t own_timeout_ms; /* the deadline that the database sets for this login, 0 for none */
	bool is_mariadb;        /* and not MySQL */
	bool stores_rows;       /* its driver stores whole results (maria.h) */
	bool can_look;          /* the database can check whether the client is still connected */
	SQLCHAR state[6];       /* SQLSTATE of the last failure; empty when a query starts */
	SQLINTEGER native;      /* the database's own number for it */
	bool begun;             /* the query may have reached the database */
	/* the SET statement of a new connection to MariaDB; NULL when unknown */
	char *settings;
	int64_t variables; /* a checksum of all these variables */
	enum odbc_renewal renewal;
	char *password; /* must not appear in any message; may be NULL */
};

/*
 * Returns an argument for ODBC, which takes strings that are not const and does not write to them.
 */
SQLCHAR *odbc_text(const char *s);
SQLPOINTER odbc_number(uintptr_t n);
/*
 * Sets *err to the first diagnostic of `handle`, or to ERR_CANCELLED after a cancel. Always returns
 * -1.
 */
int odbc_fail(struct odbc *odbc, SQLSMALLINT kind, SQLHANDLE handle, struct err *err);
/* Appends to the message of a query's failure what the driver did not pass on. */
void odbc_explain(const struct odbc *odbc, const struct query *query, struct err *err);
/*
 * Resets MariaDB's connection to a new one. Returns false when that is impossible. A query leaves
 * much behind: @variables, named locks, and everything that functions have set.
 */
bool odbc_renew(struct odbc *odbc) MUST_CHECK;
/* Runs a statement that returns no rows. Returns -1 and sets *err. */
int odbc_execute(struct odbc *odbc, const char *sql, struct err *err) MUST_CHECK;

#endif
