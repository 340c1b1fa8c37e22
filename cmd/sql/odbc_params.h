/* SPDX-License-Identifier: MIT */
/* odbc_params.h - the values of a prepared statement's parameters. */
#ifndef SQL_ODBC_PARAMS_H
#define SQL_ODBC_PARAMS_H

#include <jansson.h>
#include <sql.h>
#include <stdbool.h>

#include "base/err.h"
#include "pq_params.h"
#include "query.h"
#include "sql/dialect.h"

enum { ODBC_PARAMS_DRIVER = -2 };

/* What a driver reads only when the statement is executed. */
struct odbc_param {
	SQLLEN len;
	SQLBIGINT integer;
	double real;
	char digits[PQ_REAL_SIZE];
	unsigned char truth;
};

/* Whether the query has no more places for them than drivers bear. */
int odbc_params_limit(enum sql_dialect dialect, const struct query *query,
		      struct err *err) MUST_CHECK;
/* `params` is an array or NULL: as many as the statement has? */
int odbc_params_count(SQLHSTMT statement, enum sql_dialect dialect, const json_t *params,
		      struct err *err) MUST_CHECK;
/* The same, by the places in the text. */
int odbc_params_match(enum sql_dialect dialect, const struct query *query,
		      struct err *err) MUST_CHECK;
/* Whether a MySQL query has places for them within the rows of a VALUES. */
bool odbc_params_in_values(const struct query *query);
/* Whether they can be passed on as they are. */
int odbc_params_check(const json_t *params, struct err *err) MUST_CHECK;
/*
 * Counts and binds; `params` and as many `slots` are to stay until the statement has been executed.
 * -1 with `err` set; ODBC_PARAMS_DRIVER: the diagnostics of `statement` tell what failed.
 */
int odbc_params_bind(SQLHSTMT statement, enum sql_dialect dialect, const json_t *params,
		     struct odbc_param *slots, struct err *err) MUST_CHECK;

#endif
