/* SPDX-License-Identifier: MIT */
/*
 * pq.h - what PostgreSQL's library knows and psqlodbc keeps to itself: where in the query an error
 * is, its detail and its hint, and how to cancel while a query waits to be prepared.
 *
 * It sees what goes through the functions of libpq that the program exports (library.h). With a
 * driver that has no libpq.so.5 there is nothing to see, and nothing here does anything.
 */
#ifndef SQL_PQ_H
#define SQL_PQ_H

#include <stdbool.h>

#include "base/buf.h"
#include "query.h"

/* Asks the server to end what it does for us, from any thread; false: it cannot be asked. */
bool pq_cancel(void);
/* The connection is over: nothing of it is left. Not while pq_cancel may be called. */
void pq_forget_connection(void);
/* libpq's connection, which psqlodbc made; NULL without one. */
void *pq_connection(void);
/* Sets a pointer to a function of the libpq that is loaded. */
bool pq_find(const char *name, void *ret_function);
/* The text that the next error is about. */
void pq_sends(const char *query);
/* libpq's, which also remembers of an error what pq_explain puts. */
char *PQresultErrorField(const void *result, int field);
/* What an earlier query said is no longer of interest. */
void pq_forget_error(void);
/* Whether the last error has a detail, which pq_explain puts. */
bool pq_has_detail(void);
/* Puts what else the server said of its last error, in lines that begin with a line's end. */
void pq_explain(struct buf *out, const struct query *query);

#endif
