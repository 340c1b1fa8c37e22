/* SPDX-License-Identifier: MIT */
/*
 * odbc.h - queries over unixODBC: a read-only transaction each, always rolled back.
 *
 * The connection asks for read-only access and for rows by cursor where a driver reads all at once
 * otherwise. A query whose process is killed ends in the database soon: PostgreSQL looks every two
 * seconds whether the connection is there (from version 14 on), and has the query's deadline
 * itself. No message of this module holds the connection string.
 */
#ifndef SQL_ODBC_H
#define SQL_ODBC_H

#include <stdbool.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"
#include "sql/dialect.h"

struct odbc;

struct odbc *odbc_open(const char *connection, struct err *err) MUST_CHECK;
/* By what the database calls itself. */
enum sql_dialect odbc_dialect(const struct odbc *odbc);
int odbc_run(struct odbc *odbc, const struct query *query, struct sink *sink,
	     struct err *err) MUST_CHECK;
/*
 * After a failure: whether the connection is gone for good. *ret_begun: the database may have run
 * the query, or it has put rows; if not, it can be run again on a new connection.
 */
bool odbc_is_lost(const struct odbc *odbc, bool *ret_begun);
/* Lets go of what a query left in the connection; false: the connection cannot be kept. */
bool odbc_rest(struct odbc *odbc) MUST_CHECK;
void odbc_close(struct odbc *odbc);

#endif
