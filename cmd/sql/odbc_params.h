/* SPDX-License-Identifier: MIT */
/* odbc_params.h - binds the values of a prepared statement's parameters. */
#ifndef SQL_ODBC_PARAMS_H
#define SQL_ODBC_PARAMS_H

#include <jansson.h>
#include <sql.h>
#include <stdbool.h>

#include "base/err.h"
#include "pq_params.h"
#include "query.h"
#include "sql/sql_dialect.h"

enum { ODBC_PARAMS_DRIVER = -2 };

/* Values that a driver reads only when the statement is executed. */
struct odbc_param {
	SQLLEN len;
	SQLBIGINT integer;
	double real;
	char digits[PQ_REAL_SIZE];
	unsigned char truth;
};

/* Checks that the query has no more parameters than drivers support. Returns -1 and sets *err. */
int odbc_params_limit(enum sql_dialect dialect, const struct query *query,
		      struct err *err) MUST_CHECK;
/*
 * Checks that `params`, an array or NULL, has as many values as the statement has parameters.
 * Returns -1 and sets *err.
 */
int odbc_params_count(SQLHSTMT statement, enum sql_dialect dialect, const json_t *params,
		      struct err *err) MUST_CHECK;
/* Checks the same by the parameters in the text. Returns -1 and sets *err. */
int odbc_params_match(enum sql_dialect dialect, const struct query *query,
		      struct err *err) MUST_CHECK;
/* Returns true when a MySQL query has parameters within the rows of a VALUES. */
bool odbc_params_in_values(const struct query *query);
/* Checks that the values can be passed on unchanged. Returns -1 and sets *err. */
int odbc_params_check(const json_t *params, struct err *err) MUST_CHECK;
/*
 * Counts and binds. `params` and as many `slots` must stay until the statement has been executed.
 * Returns -1 and sets *err, or ODBC_PARAMS_DRIVER when the diagnostics of `statement` have the
 * reason.
 */
int odbc_params_bind(SQLHSTMT statement, enum sql_dialect dialect, const json_t *params,
		     struct odbc_param *slots, struct err *err) MUST_CHECK;

#endif
