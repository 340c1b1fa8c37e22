/* SPDX-License-Identifier: MIT */
/*
 * sql_original.h - records the files of a query as inputs of the session, with an original each
 * (workspace/original.h): later cells read them, and no second run of the query gives them again.
 */
#ifndef TOOLS_SQL_ORIGINAL_H
#define TOOLS_SQL_ORIGINAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct service;
struct session;
struct sql_original;

/* The files that a query made. */
struct sql_files {
	const json_t *answer; /* of ptycell-sql; borrowed for the call */
	const char *name;     /* of the first one; the names of the others are made from it */
	uint64_t cell;        /* the number of the query */
};

/*
 * Begins to copy the files. Calls done(data) once, from the loop, when all are copied or given up;
 * sql_original_end follows. Returns NULL if there is no file. The session must live until
 * sql_original_end.
 */
struct sql_original *sql_original_start(struct service *service, struct session *session,
					const struct sql_files *files, void (*done)(void *data),
					void *data);
/*
 * Records the files for the notebook and for cells that run again, and frees it. `alive`: the
 * session has not ended; else nothing is recorded. May be NULL.
 */
void sql_original_end(struct sql_original *originals, bool alive);

#endif
