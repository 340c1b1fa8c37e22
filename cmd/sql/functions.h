/* SPDX-License-Identifier: MIT */
/*
 * functions.h - functions that SQLite as it is packaged lacks, and sums that say what they added.
 *
 * median(x), percentile(x, 0..100), percentile_cont(x, 0..1), percentile_disc(x, 0..1) and
 * stddev(x) as aggregates; x REGEXP pattern with POSIX's extended expressions;
 * generate_series(start, stop, step). sum, total and avg are SQLite's own, but count texts that are
 * no numbers.
 */
#ifndef SQL_FUNCTIONS_H
#define SQL_FUNCTIONS_H

#include <sqlite3.h>

#include "base/err.h"
#include "sink.h"

int functions_register(sqlite3 *db, struct err *err) MUST_CHECK;
/* A query begins. */
void functions_begin(void);
/* What the query that is over added and should not have. */
void functions_tell(struct sink *sink);

#endif
