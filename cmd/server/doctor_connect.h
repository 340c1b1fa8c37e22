/* SPDX-License-Identifier: MIT */
/* doctor_connect.h - sends a query to each configured database, as exec_sql would. */
#ifndef SERVER_DOCTOR_CONNECT_H
#define SERVER_DOCTOR_CONNECT_H

#include <stdbool.h>

struct settings;

/*
 * Prints a line for each database, without secrets. Returns false when one of them does not reply.
 */
bool doctor_connect(const struct settings *settings);

#endif
