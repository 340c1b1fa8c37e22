/* SPDX-License-Identifier: MIT */
/* assumptions.h - reports what was assumed about a file and its columns, in sentences. */
#ifndef SQL_ASSUMPTIONS_H
#define SQL_ASSUMPTIONS_H

#include "query.h"
#include "sheet.h"
#include "sink.h"

enum { ASSUMPTIONS_COLUMNS_MAX = 5 };

/*
 * Reports, once for each sheet, everything that was assumed.
 *
 * Each time it reports columns that the query read: texts of which most values are numbers or
 * booleans, and texts that it compared with a number or used as conditions. It also reports
 * booleans beside a text that `truths` says the query has.
 */
void assumptions_report(struct sheet *sheet, bool truths, struct sink *sink);
/* Returns true when the query has a text like 'True' or 'f%', which no boolean equals. */
bool assumptions_has_truths(const struct query *query);

#endif
