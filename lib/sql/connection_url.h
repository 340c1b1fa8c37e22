/* SPDX-License-Identifier: MIT */
/*
 * connection_url.h - addresses as applications write them: postgresql://user:secret@host/shop.
 *
 * Schemes are postgresql, postgres, mysql and mariadb, also followed by SQLAlchemy's +driver.
 */
#ifndef SQL_CONNECTION_URL_H
#define SQL_CONNECTION_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Returns whether it begins with a scheme and "://", known or not. */
bool connection_is_url(const char *string);
/*
 * Appends the address as KEYWORD=value;..., with the driver as "postgresql" or "mysql"
 * (connection_drivers). `password` counts if the address has none, or the placeholder of
 * connection_string.h; it may be NULL. Returns -1 and sets ERR_INVALID for an address that is not
 * understood. No message holds a secret.
 */
int connection_from_url(const char *url, const char *password, struct buf *out,
			struct err *err) MUST_CHECK;
/*
 * Returns the names by which drivers of "postgresql" or "mysql" are registered, to be tried in
 * turn, NULL-terminated; NULL for other names. Sets *ret_package to the package to install if none
 * is there.
 */
const char *const *connection_drivers(const char *driver, const char **ret_package);

#endif
