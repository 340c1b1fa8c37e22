/* SPDX-License-Identifier: MIT */
/*
 * odbc.h - runs queries over unixODBC, each in a read-only transaction that is always rolled back.
 *
 * The connection asks for read-only access, and for rows by cursor where a driver reads all at once
 * otherwise. A query whose process is killed soon ends in the database as well: PostgreSQL (from
 * version 14 on) checks the connection every two seconds, and enforces the query's deadline itself.
 * No message of this module contains the connection string.
 */
#ifndef SQL_ODBC_H
#define SQL_ODBC_H

#include <stdbool.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"
#include "sql/sql_dialect.h"

struct odbc;

/* Returns a connection, or NULL and sets *err. */
struct odbc *odbc_open(const char *connection, struct err *err) MUST_CHECK;
/* Returns the dialect by the name that the database reports. */
enum sql_dialect odbc_dialect(const struct odbc *odbc);
/* Runs the query. Returns -1 and sets *err. */
int odbc_run(struct odbc *odbc, const struct query *query, struct sink *sink,
	     struct err *err) MUST_CHECK;
/*
 * Returns true when the connection is lost after a failure. Sets *ret_begun when the database may
 * have run the query, or rows were put. Otherwise the query can run again on a new connection.
 */
bool odbc_is_lost(const struct odbc *odbc, bool *ret_begun);
/*
 * Releases what a query left in the connection. Returns false when the connection cannot be kept.
 */
bool odbc_rest(struct odbc *odbc) MUST_CHECK;
/* Disconnects and frees the connection. */
void odbc_close(struct odbc *odbc);

#endif
