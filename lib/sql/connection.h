/* SPDX-License-Identifier: MIT */
/*
 * connection.h - ODBC connection strings: KEYWORD=VALUE;..., a value in braces when it holds
 * more than plain characters, a closing brace in it doubled.
 */
#ifndef SQL_CONNECTION_H
#define SQL_CONNECTION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "sql/dialect.h"

#define CONNECTION_PLACEHOLDER "{your_password_here}"

/*
 * The string as a driver takes it: the password, quoted as it must be, in place of the
 * placeholder, or added when the string has none; "NAME" alone becomes "DSN=NAME". `password` may
 * be NULL. ERR_INVALID when there is a placeholder and no password, or a malformed string; no
 * message holds a part of either.
 */
int connection_complete(const char *string, const char *password, struct buf *out,
			struct err *err) MUST_CHECK;
/* The value of a keyword, in any case, without quoting: the caller frees it; NULL when absent. */
char *connection_get(const char *string, const char *keyword);
/* Adds ";KEYWORD=VALUE" unless the string has it. */
void connection_default(struct buf *string, const char *keyword, const char *value);
/* For FreeTDS, which reads a doubled brace within braces as two: as it wants it. */
void connection_adapt(struct buf *string);
/* As far as the driver's name tells; SQL_GENERIC for a DSN. */
enum sql_dialect connection_dialect(const char *string);

#endif
