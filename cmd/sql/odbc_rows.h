/* SPDX-License-Identifier: MIT */
/* odbc_rows.h - the rows of an executed statement into a sink. */
#ifndef SQL_ODBC_ROWS_H
#define SQL_ODBC_ROWS_H

#include <sql.h>
#include <stdbool.h>

#include "base/err.h"
#include "sink.h"

enum { ODBC_ROWS_DRIVER = -2 };

struct odbc_rows_how {
	bool blocks;      /* many rows come at once, and single values of these when asked for */
	bool exact_reals; /* their texts are the shortest that read back as the same number */
};

/* -1 with `err` set; ODBC_ROWS_DRIVER: the statement's diagnostics tell what failed. */
int odbc_rows_put(SQLHSTMT statement, const struct odbc_rows_how *how, struct sink *sink,
		  struct err *err) MUST_CHECK;

#endif
