/* SPDX-License-Identifier: MIT */
/* advise.h - what a query did with a file's columns and should not have, in sentences. */
#ifndef SQL_ADVISE_H
#define SQL_ADVISE_H

#include "sheet.h"
#include "sink.h"

/* By the marks of the sheet's columns. */
void advise_sheet(const struct sheet *sheet, struct sink *sink);

#endif
