/* SPDX-License-Identifier: MIT */
/*
 * connection_url.h - addresses as applications have them: postgresql://user:secret@host/shop.
 *
 * Schemes are postgresql, postgres, mysql and mariadb, also with SQLAlchemy's +driver behind them.
 */
#ifndef SQL_CONNECTION_URL_H
#define SQL_CONNECTION_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Whether it begins with a scheme and "://", known or not. */
bool connection_is_url(const char *string);
/*
 * Adds what it means as KEYWORD=value;..., the driver as "postgresql" or "mysql"
 * (connection_drivers). `password`, which may be NULL, counts when the address has none or the
 * placeholder of connection.h. ERR_INVALID for what is not understood; no message holds a secret.
 */
int connection_from_url(const char *url, const char *password, struct buf *out,
			struct err *err) MUST_CHECK;
/*
 * The names that drivers of "postgresql" or "mysql" are registered by, to be tried in turn, ended
 * by NULL; NULL for other names. *ret_package: what to install where there is none of them.
 */
const char *const *connection_drivers(const char *driver, const char **ret_package);

#endif
