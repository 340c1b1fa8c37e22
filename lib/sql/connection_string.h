/* SPDX-License-Identifier: MIT */
/*
 * connection_string.h - ODBC connection strings: KEYWORD=VALUE;... A value with more than plain
 * characters is in braces, and a closing brace in it is doubled.
 */
#ifndef SQL_CONNECTION_STRING_H
#define SQL_CONNECTION_STRING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "sql/sql_dialect.h"

#define CONNECTION_PLACEHOLDER "{your_password_here}"

/*
 * Appends the string in the form that a driver takes. The password, quoted as needed, replaces the
 * placeholder, or is added if the string has none; "NAME" alone becomes "DSN=NAME". An address
 * (connection_url.h) becomes such a string. `password` may be NULL. Returns -1 and sets ERR_INVALID
 * for a placeholder without a password and for a malformed string. No message holds a part of
 * either.
 */
int connection_complete(const char *string, const char *password, struct buf *out,
			struct err *err) MUST_CHECK;
/* Returns the unquoted value of a keyword in any case, NULL if absent. The caller frees it. */
char *connection_get(const char *string, const char *keyword);
/* Appends a value in braces. */
void connection_quote(struct buf *out, const char *value);
/* Puts KEYWORD=VALUE in front and removes the string's own. */
void connection_set(struct buf *string, const char *keyword, const char *value);
/* Appends ";KEYWORD=VALUE" unless the string has the keyword. */
void connection_default(struct buf *string, const char *keyword, const char *value);
/*
 * Returns whether some value means different things to two versions of FreeTDS. Before 1.4 it reads
 * a value in braces up to "};" verbatim; newer versions do as all drivers. Outside braces both read
 * up to a semicolon.
 */
bool connection_asks_version(const char *string);
/*
 * Changes values to the form of FreeTDS; strings of other drivers stay. `old`: before 1.4. Returns
 * -1 and sets ERR_INVALID for a value that an old version cannot express. No message holds a part
 * of it.
 */
int connection_adapt(struct buf *string, bool old, struct err *err) MUST_CHECK;
/*
 * Returns a hint to append to a connection error of this SQLSTATE; "" if the error suffices. The
 * result is static.
 */
const char *connection_hint(const char *state);
/* Returns the dialect that the driver's name implies; SQL_GENERIC for a DSN. */
enum sql_dialect connection_dialect(const char *string);

#endif
