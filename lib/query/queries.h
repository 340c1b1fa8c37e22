/* SPDX-License-Identifier: MIT */
/*
 * queries.h - queries under way, by the processes of ptycell-sql that answer them.
 *
 * A process is for one session's folder and one database. It is kept while it is used, answers one
 * query after the other, and is killed when a query is cancelled or runs into its deadline. What
 * it says is data of a program that reads foreign bytes.
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
	QUERIES_IDLE_MS = 60000, /* an unused process is kept for so long */
	QUERIES_GRACE_MS = 2000, /* from being asked to stop to being killed */
};

struct query_spec {
	const struct workspace *workspace;
	const json_t *database; /* of databases_find */
	const json_t *params;   /* an array, or NULL */
	const char *sql;
	size_t sql_len;
	const char *file; /* for rows that are too many, relative to the session's folder */
	uint64_t inline_rows;
	uint64_t inline_bytes;
	uint64_t rows_max;
	uint64_t bytes_max;
	uint64_t timeout_ms; /* from when it is its turn */
};

struct query_handlers {
	void (*progress)(void *data, uint64_t rows);
	/* Once, last, from the loop or from queries_end_folder. Either is NULL; `answer` as sink.h
	 * of ptycell-sql, its shape checked.
	 */
	void (*done)(void *data, const json_t *answer, const struct err *err);
};

/* `program` is copied. */
struct queries *queries_new(struct loop *loop, const char *program);
/* Kills what runs; queries must be over. NULL is allowed. */
void queries_free(struct queries *queries);
/* All is borrowed for the call but `handlers`. NULL: it could not be started. */
struct query *queries_start(struct queries *queries, const struct query_spec *spec,
			    const struct query_handlers *handlers, void *data,
			    struct err *err) MUST_CHECK;
/* `done` follows with ERR_CANCELLED, or with the answer when that was there first. */
void queries_cancel(struct query *query);
/* The session of this folder (workspace_name) ends: its queries fail now. NULL is allowed. */
void queries_end_folder(struct queries *queries, const char *folder);

#endif
