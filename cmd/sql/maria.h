/* SPDX-License-Identifier: MIT */
/*
 * maria.h - rows of MariaDB one after the other.
 *
 * Its driver before version 3.1.17 has its library store all rows of a result, by functions that
 * this program exports (library.h): while rows are to flow they leave them in the connection.
 * What the driver has no words for goes to the library itself: nothing where it is another one.
 */
#ifndef SQL_MARIA_H
#define SQL_MARIA_H

#include <stdbool.h>

#include "sink.h"

/* For the statement that is executed next and until all of its rows are fetched. */
void maria_flow(bool flow);
/* The connection becomes as the server makes a new one; false: it cannot. */
bool maria_reset(void);
/* Notes of what the database warns of since its last statement, which is over. */
void maria_warn(struct sink *sink);

#endif
