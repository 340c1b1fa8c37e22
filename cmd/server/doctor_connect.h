/* SPDX-License-Identifier: MIT */
/* doctor_connect.h - asks each configured database a query, as exec_sql would. */
#ifndef SERVER_DOCTOR_CONNECT_H
#define SERVER_DOCTOR_CONNECT_H

#include <stdbool.h>

struct settings;

/* A line each, without secrets. False when one does not answer. */
bool doctor_connect(const struct settings *settings);

#endif
