/* SPDX-License-Identifier: MIT */
/*
 * functions.h - SQL functions that the packaged SQLite lacks, and sums that report what they added.
 *
 *   - Aggregates: median(x), percentile(x, 0..100), percentile_cont(x, 0..1),
 *     percentile_disc(x, 0..1), stddev(x).
 *   - x REGEXP pattern takes POSIX extended expressions.
 *   - generate_series(start, stop, step) is a table.
 *   - sum, total and avg compute as SQLite's own, but count texts that are not numbers.
 *
 * Returns -1 and sets *err.
 */
#ifndef SQL_FUNCTIONS_H
#define SQL_FUNCTIONS_H

#include <sqlite3.h>

#include "base/err.h"
#include "sink.h"

int functions_register(sqlite3 *db, struct err *err) MUST_CHECK;
/* Resets the counts; a query begins. */
void functions_begin(void);
/* Reports what the finished query added and should not have. */
void functions_report(struct sink *sink);

#endif
