/* SPDX-License-Identifier: MIT */
/* advise.h - reports what a query did with a file's columns and should not have, in sentences. */
#ifndef SQL_ADVISE_H
#define SQL_ADVISE_H

#include "base/buf.h"
#include "sheet.h"
#include "sink.h"

enum { ADVISE_COLUMNS_MAX = 5 };

/* Appends a column's name as SQL writes it, in quotes where it needs them. */
void advise_put_name(struct buf *out, const char *name);

/* Reports columns whose dates may have several forms, except those that advise_sheet reports. */
void advise_forms(const struct sheet *sheet, struct sink *sink);
/* Reports what the marks of the sheet's columns record. */
void advise_sheet(const struct sheet *sheet, struct sink *sink);

#endif
