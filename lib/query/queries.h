/* SPDX-License-Identifier: MIT */
/*
 * queries.h - running queries, and the processes of ptycell-sql that answer them.
 *
 * A process serves one session's folder and one database, and answers one query after the other. It
 * is kept while it is used. When a query is cancelled or meets its deadline, it is asked to stop,
 * gets no further query, and is killed QUERIES_GRACE_MS later. Its replies are untrusted: it reads
 * untrusted bytes.
 */
#ifndef QUERY_QUERIES_H
#define QUERY_QUERIES_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"

struct queries;
struct query;
struct workspace;

enum {
	QUERIES_LINKS_MAX = 32,
	QUERIES_IDLE_MS = 60000, /* an unused process is kept this long */
	QUERIES_GRACE_MS = 2000, /* from the request to stop to SIGKILL */
};

struct query_spec {
	const struct workspace *workspace;
	const json_t *database; /* of databases_find */
	const json_t *params;   /* an array, or NULL */
	const char *sql;
	size_t sql_len;
	const char *file; /* relative to the session's folder; takes the rows beyond inline_rows */
	uint64_t inline_rows;
	uint64_t inline_bytes;
	uint64_t rows_max;
	uint64_t bytes_max;
	uint64_t timeout_ms; /* from the start of its turn */
};

struct query_handlers {
	void (*progress)(void *data, uint64_t rows);
	/*
	 * Called once, last, from the loop or from queries_end_folder. One of `answer` and `err` is
	 * NULL. `answer` has the checked shape of ptycell-sql's sink.h.
	 */
	void (*done)(void *data, const json_t *answer, const struct err *err);
};

/* Makes an empty set. `program` is the path of ptycell-sql and is copied. */
struct queries *queries_new(struct loop *loop, const char *program);
/* Kills the processes; every query must be over. `queries` may be NULL. */
void queries_free(struct queries *queries);
/*
 * Starts a query, or queues it behind that of its process. `handlers` is borrowed until `done`, the
 * rest until the function returns. Returns NULL and sets *err when no process can be started.
 */
struct query *queries_start(struct queries *queries, const struct query_spec *spec,
			    const struct query_handlers *handlers, void *data,
			    struct err *err) MUST_CHECK;
/* Cancels: `done` follows with ERR_CANCELLED, or with the answer when that came first. */
void queries_cancel(struct query *query);
/* Fails the queries of this folder (workspace_name) now. `queries` may be NULL. */
void queries_end_folder(struct queries *queries, const char *folder);

#endif
