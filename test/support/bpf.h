/* SPDX-License-Identifier: MIT */
/*
 * bpf.h - runs a filter of system calls as the kernel would, on calls that are not made.
 *
 * Knows the instructions that sandbox/restrict/seccomp.c makes. Any other, a load outside the
 * call's data and a jump past the end, which the kernel would not load, abort the test.
 */
#ifndef SUPPORT_BPF_H
#define SUPPORT_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* The answer of the filter: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | errno, ... */
uint32_t bpf_run(const struct sock_filter *code, size_t len, const struct seccomp_data *call);

#endif
