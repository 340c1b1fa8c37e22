/* SPDX-License-Identifier: MIT */
/*
 * pq_run.h - a query on psqlodbc's own connection without psqlodbc, whose only way to have few rows
 * at once is a cursor: PostgreSQL plans these without workers. So rows come as they do to psql.
 */
#ifndef SQL_PQ_RUN_H
#define SQL_PQ_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { PQ_STATE_SIZE = 6 };

struct pq_query {
	const char *text; /* its parameters are $1, $2, ... */
	const json_t *params;
};

/* A text of the server's own, NUL-terminated, which may be changed; NULL for NULL. */
struct pq_value {
	char *s;
	size_t len;
};

/* A row; *ret_full: no more rows are wanted. */
typedef int pq_take_row(void *data, struct pq_value *values, bool *ret_full, struct err *err);

/* Whether pq_run can do anything: the driver has a libpq that can give row by row. */
bool pq_can_run(void);
/*
 * Runs it within the transaction that psqlodbc has begun. On failure `ret_state` has the SQLSTATE,
 * "" when it was `take`'s.
 */
int pq_run(const struct pq_query *query, int columns, pq_take_row *take, void *data,
	   char *ret_state, struct err *err) MUST_CHECK;

#endif
