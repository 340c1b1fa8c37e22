/* SPDX-License-Identifier: MIT */
/* helper_filter.h - filters of system calls for our own helper programs; all their threads. */
#ifndef LOCKDOWN_SECCOMP_HELPER_H
#define LOCKDOWN_SECCOMP_HELPER_H

#include <stddef.h>

#include "base/err.h"

struct bpf;

/* These calls are allowed; what else is may be put behind. seccomp_helper_enter() refuses the rest.
 */
void seccomp_helper_begin(struct bpf *bpf, const int *calls, size_t count);
int seccomp_helper_enter(struct bpf *bpf, struct err *err) MUST_CHECK;
/*
 * For a program that runs libraries of the system (name services, ODBC drivers): all but programs,
 * other processes and what the kernel has for neither. `also`: more calls that it refuses.
 */
int seccomp_helper_enter_wide(const int *also, size_t count, struct err *err) MUST_CHECK;

#endif
