/* SPDX-License-Identifier: MIT */
/*
 * pq_run.h - runs a query on psqlodbc's own connection, around psqlodbc.
 *
 * psqlodbc parses the text by rules of its own. It decides differently than PostgreSQL where a
 * string ends and another query begins, and then puts values into the text. Here only PostgreSQL
 * parses it, as one query with parameters
 * (https://www.postgresql.org/docs/current/protocol-flow.html, Extended Query). Rows stream as in
 * psql: psqlodbc can limit them only by a cursor, which is planned without parallel workers.
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
	unsigned type;    /* its number in pg_type */
};

/* The server's text of a value, NUL-terminated; it may be changed. NULL for NULL. */
struct pq_value {
	char *s;
	size_t len;
};

/* Receives a query's result. A function that fails ends the query. */
struct pq_taker {
	int (*columns)(void *data, const struct pq_column *columns, int count, struct err *err);
	/* Sets *ret_full when it wants no more rows. */
	int (*row)(void *data, struct pq_value *values, bool *ret_full, struct err *err);
	/* Receives a warning or notice: its level, SQLSTATE and text. */
	void (*notice)(void *data, const char *level, const char *state, const char *message);
	void *data;
};

/* Returns true when the driver has a libpq that can return single rows. */
bool pq_can_run(void);
/*
 * Runs the query within the transaction that psqlodbc has begun. Returns -1 and sets *err.
 * `ret_state` then has the SQLSTATE, or "" when the taker failed.
 */
int pq_run(const struct pq_query *query, const struct pq_taker *taker, char *ret_state,
	   struct err *err) MUST_CHECK;

#endif
