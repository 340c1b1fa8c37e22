/* SPDX-License-Identifier: MIT */
/*
 * connection.h - ODBC connection strings: KEYWORD=VALUE;..., a value in braces when it holds
 * more than plain characters, a closing brace in it doubled.
 */
#ifndef SQL_CONNECTION_STRING_H
#define SQL_CONNECTION_STRING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "sql/dialect.h"

#define CONNECTION_PLACEHOLDER "{your_password_here}"

/*
 * The string as a driver takes it: the password, quoted as it must be, in place of the
 * placeholder, or added when the string has none; "NAME" alone becomes "DSN=NAME". `password` may
 * be NULL. An address (connection_url.h) becomes such a string. ERR_INVALID when there is a
 * placeholder and no password, or a malformed string; no message holds a part of either.
 */
int connection_complete(const char *string, const char *password, struct buf *out,
			struct err *err) MUST_CHECK;
/* The value of a keyword, in any case, without quoting: the caller frees it; NULL when absent. */
char *connection_get(const char *string, const char *keyword);
/* Adds a value in braces. */
void connection_quote(struct buf *out, const char *value);
/* Puts KEYWORD=VALUE in front, in place of what the string has of it. */
void connection_set(struct buf *string, const char *keyword, const char *value);
/* Adds ";KEYWORD=VALUE" unless the string has it. */
void connection_default(struct buf *string, const char *keyword, const char *value);
/*
 * FreeTDS before 1.4 reads a value in braces up to "};" as it stands, newer ones as all drivers do;
 * outside of braces both read up to a semicolon. Whether some value is not the same to both:
 */
bool connection_asks_version(const char *string);
/*
 * Values as FreeTDS wants them, of other drivers' strings nothing. `old`: before 1.4. ERR_INVALID
 * for a value that cannot be said to that one; no message holds a part of it.
 */
int connection_adapt(struct buf *string, bool old, struct err *err) MUST_CHECK;
/* What to add to an error of this SQLSTATE on the way to a connection; "" where it says enough. */
const char *connection_hint(const char *state);
/* As far as the driver's name tells; SQL_GENERIC for a DSN. */
enum sql_dialect connection_dialect(const char *string);

#endif
