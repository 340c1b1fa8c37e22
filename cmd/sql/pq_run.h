/* SPDX-License-Identifier: MIT */
/*
 * pq_run.h - a query on psqlodbc's own connection without psqlodbc, which reads the text by rules
 * of its own: where a string ends, and what is another query, it does not say as PostgreSQL does,
 * and then puts values into the text. Here PostgreSQL alone reads it, as one query with parameters
 * (https://www.postgresql.org/docs/current/protocol-flow.html, Extended Query). Rows come as they
 * do to psql: psqlodbc's only way to have few at once is a cursor, which is planned without
 * workers.
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

struct pq_column {
	const char *name; /* the server's */
	unsigned type;    /* pg_type's number of it */
};

/* A text of the server's own, NUL-terminated, which may be changed; NULL for NULL. */
struct pq_value {
	char *s;
	size_t len;
};

/* Where a query's answer goes; a function that fails ends it. */
struct pq_taker {
	int (*columns)(void *data, const struct pq_column *columns, int count, struct err *err);
	/* *ret_full: no more rows are wanted. */
	int (*row)(void *data, struct pq_value *values, bool *ret_full, struct err *err);
	/* Of a warning or a notice: its level, SQLSTATE and text. */
	void (*notice)(void *data, const char *level, const char *state, const char *message);
	void *data;
};

/* Whether pq_run can do anything: the driver has a libpq that can give row by row. */
bool pq_can_run(void);
/*
 * Runs it within the transaction that psqlodbc has begun. On failure `ret_state` has the SQLSTATE,
 * "" when it was the taker's.
 */
int pq_run(const struct pq_query *query, const struct pq_taker *taker, char *ret_state,
	   struct err *err) MUST_CHECK;

#endif
