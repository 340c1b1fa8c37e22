/* SPDX-License-Identifier: MIT */
/* tell.h - what was assumed about a file and its columns, in sentences. */
#ifndef SQL_TELL_H
#define SQL_TELL_H

#include "query.h"
#include "sheet.h"
#include "sink.h"

enum { TELL_COLUMNS_MAX = 5 };

/*
 * Of a sheet that the query used, once: all that was assumed. Each time: the columns that the query
 * read and that are text although most of their values are numbers or booleans, texts that it
 * compared with a number or took for conditions, and booleans beside a text that `truths` says it
 * has.
 */
void tell_sheet(struct sheet *sheet, bool truths, struct sink *sink);
/* Whether the query has a text like 'True' or 'f%', which no boolean equals. */
bool tell_has_truths(const struct query *query);

#endif
