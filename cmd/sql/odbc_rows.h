/* SPDX-License-Identifier: MIT */
/* odbc_rows.h - reads the rows of an executed statement into a sink. */
#ifndef SQL_ODBC_ROWS_H
#define SQL_ODBC_ROWS_H

#include <sql.h>
#include <stdbool.h>

#include "base/err.h"
#include "sink.h"

enum {
	ODBC_ROWS_DRIVER = -2,
	ODBC_ROWS_FEW = 100, /* rows that a driver may hold, however large they are */
};

struct odbc_rows_how {
	bool blocks;         /* many rows arrive at once, and single values on request */
	bool exact_reals;    /* their texts are the shortest that read back as the same number */
	bool named_types;    /* bit and money differ from their ODBC types */
	bool small_integers; /* integers fit into 64 bits with a sign */
	SQLHDBC ahead;       /* psqlodbc's connection, whose rows may be fetched by the thousand */
};

/*
 * Returns -1 and sets *err, or ODBC_ROWS_DRIVER when the diagnostics of `statement` have the
 * reason.
 */
int odbc_rows_put(SQLHSTMT statement, const struct odbc_rows_how *how, struct sink *sink,
		  struct err *err) MUST_CHECK;

#endif
