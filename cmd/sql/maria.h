/* SPDX-License-Identifier: MIT */
/*
 * maria.h - rows of MariaDB one after the other.
 *
 * Its driver before version 3.1.17 has its library store all rows of a result, by functions that
 * this program exports (library.h): while rows are to flow they leave them in the connection.
 */
#ifndef SQL_MARIA_H
#define SQL_MARIA_H

#include <stdbool.h>

/* For the statement that is executed next and until all of its rows are fetched. */
void maria_flow(bool flow);

#endif
