/* SPDX-License-Identifier: MIT */
/* pq_rows.h - writes the results of pq_run to a sink. */
#ifndef SQL_PQ_ROWS_H
#define SQL_PQ_ROWS_H

#include "base/err.h"
#include "pq_run.h"
#include "sink.h"

/*
 * Runs the query. Its warnings and notices become notes. `ret_state` is as in pq_run. Returns -1
 * and sets *err.
 */
int pq_rows_run(const struct pq_query *query, struct sink *sink, char *ret_state,
		struct err *err) MUST_CHECK;

#endif
