/* SPDX-License-Identifier: MIT */
/*
 * filter.h - seccomp for this program: no programs, no other processes, no listening, none of the
 * kernel's depths. A list of what is refused: name services load modules of their own.
 */
#ifndef FETCH_FILTER_H
#define FETCH_FILTER_H

#include "base/err.h"

/* For all threads, for good. */
int filter_enter(struct err *err) MUST_CHECK;

#endif
