/* SPDX-License-Identifier: MIT */
/*
 * seccomp_helper.h - seccomp filters for our own helper programs; they apply to all their threads.
 */
#ifndef LOCKDOWN_SECCOMP_HELPER_H
#define LOCKDOWN_SECCOMP_HELPER_H

#include <stddef.h>

#include "base/err.h"

struct bpf;

/*
 * Begins a filter that allows these calls. The caller may add instructions before it calls
 * seccomp_helper_enter().
 */
void seccomp_helper_begin(struct bpf *bpf, const int *calls, size_t count);
/*
 * Enters the filter for good: calls that it does not allow fail with EPERM. Needs no_new_privs.
 * Returns -1 and sets *err: ERR_INTERNAL if the filter is too long, ERR_SYSTEM if the kernel
 * refuses it.
 */
int seccomp_helper_enter(struct bpf *bpf, struct err *err) MUST_CHECK;
/*
 * Enters a filter for a program that uses libraries of the system (name services, ODBC drivers). It
 * refuses starting programs, touching other processes, and calls that neither needs. `also` lists
 * further calls to refuse. Returns -1 and sets *err.
 */
int seccomp_helper_enter_wide(const int *also, size_t count, struct err *err) MUST_CHECK;

#endif
