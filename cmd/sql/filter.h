/* SPDX-License-Identifier: MIT */
/* filter.h - seccomp for this program: all its threads, what it needs by kind of database. */
#ifndef SQL_FILTER_H
#define SQL_FILTER_H

#include "base/err.h"

/* Files and nothing else. */
int filter_local(struct err *err) MUST_CHECK;
/* What an ODBC driver may need: no programs, no other processes, none of the kernel's depths. */
int filter_driver(struct err *err) MUST_CHECK;

#endif
