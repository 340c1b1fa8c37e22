/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - the allowed system calls of this program where it loads no driver: files and nothing
 * else.
 */
#ifndef SQL_SECCOMP_H
#define SQL_SECCOMP_H

#include "base/err.h"

/* Enters the filter for good. Returns -1 and sets *err. */
int seccomp_local(struct err *err) MUST_CHECK;

#endif
