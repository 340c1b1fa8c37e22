/* SPDX-License-Identifier: MIT */
/*
 * pq.h - what PostgreSQL's library knows and psqlodbc does not pass on: the position, detail and
 * hint of an error, and how to cancel a query that is being prepared.
 *
 * It sees what goes through those functions of libpq that the program exports (library.h). With a
 * driver without libpq.so.5 it sees nothing and has no effect.
 */
#ifndef SQL_PQ_H
#define SQL_PQ_H

#include <stdbool.h>

#include "base/buf.h"
#include "query.h"

/*
 * Asks the server to end the current query, from any thread. Returns false when it cannot be asked.
 */
bool pq_cancel(void);
/* Forgets the connection, which has ended. Must not run while pq_cancel may be called. */
void pq_forget_connection(void);
/* Returns libpq's connection, which psqlodbc made; NULL without one. */
void *pq_connection(void);
/* Sets a pointer to a function of the loaded libpq. Returns false when it is missing. */
bool pq_find(const char *name, void *ret_function);
/* Records the text that the next error refers to. */
void pq_sends(const char *query);
/* Stands in for libpq's function, and records the parts of an error that pq_explain appends. */
char *PQresultErrorField(const void *result, int field);
/* Forgets the error of an earlier query. */
void pq_forget_error(void);
/* Returns true when the last error has a detail, which pq_explain appends. */
bool pq_has_detail(void);
/* Appends what else the server sent about its last error, each line after a newline. */
void pq_explain(struct buf *out, const struct query *query);

#endif
