/* SPDX-License-Identifier: MIT */
/* advise.h - what a query did with a file's columns and should not have, in sentences. */
#ifndef SQL_ADVISE_H
#define SQL_ADVISE_H

#include "base/buf.h"
#include "sheet.h"
#include "sink.h"

enum { ADVISE_COLUMNS_MAX = 5 };

/* A column's name in SQL, in quotes where it needs them. */
void advise_put_name(struct buf *out, const char *name);

/* Columns of dates in which one may be written in several forms; not those that advise_sheet tells.
 */
void advise_forms(const struct sheet *sheet, struct sink *sink);
/* By the marks of the sheet's columns. */
void advise_sheet(const struct sheet *sheet, struct sink *sink);

#endif
