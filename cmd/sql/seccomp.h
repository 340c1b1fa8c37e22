/* SPDX-License-Identifier: MIT */
/* filter.h - seccomp for this program where it loads no driver: files and nothing else. */
#ifndef SQL_SECCOMP_H
#define SQL_SECCOMP_H

#include "base/err.h"

int seccomp_local(struct err *err) MUST_CHECK;

#endif
