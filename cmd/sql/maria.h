/* SPDX-License-Identifier: MIT */
/*
 * maria.h - streams rows from MariaDB.
 *
 * MariaDB's driver before version 3.1.17 makes its library store all rows of a result, by functions
 * that this program exports (library.h). While rows stream, these functions leave them in the
 * connection. Requests that the driver cannot express go to the library itself, and have no effect
 * with another library.
 */
#ifndef SQL_MARIA_H
#define SQL_MARIA_H

#include <stdbool.h>

#include "sink.h"

/* Turns streaming on for the next executed statement, until all of its rows are fetched. */
void maria_stream(bool stream);
/* Resets the connection to the state of a new one. Returns false when that is impossible. */
bool maria_reset(void);
/* Adds notes of the database's warnings since its last statement, which must be finished. */
void maria_warn(struct sink *sink);

#endif
