/* SPDX-License-Identifier: MIT */
/* tell.h - what was assumed about a file and its columns, in sentences. */
#ifndef SQL_TELL_H
#define SQL_TELL_H

#include "sheet.h"
#include "sink.h"

enum { TELL_COLUMNS_MAX = 5 };

/*
 * Of a sheet that the query used, once: all that was assumed. Each time: the columns that the query
 * read and that are text although most of their values are numbers, and texts that it compared with
 * a number.
 */
void tell_sheet(struct sheet *sheet, struct sink *sink);

#endif
