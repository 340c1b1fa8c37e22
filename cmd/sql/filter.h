/* SPDX-License-Identifier: MIT */
/* filter.h - seccomp for this program where it loads no driver: files and nothing else. */
#ifndef SQL_FILTER_H
#define SQL_FILTER_H

#include "base/err.h"

int filter_local(struct err *err) MUST_CHECK;

#endif
