/* SPDX-License-Identifier: MIT */
/*
 * bpf.h - a filter of system calls, put together instruction by instruction.
 *
 * A program begins with bpf_begin, which leaves the call's number loaded, and ends with a return.
 */
#ifndef LOCKDOWN_BPF_H
#define LOCKDOWN_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BPF_CODE_MAX = 1024 };

struct bpf {
	struct sock_filter code[BPF_CODE_MAX];
	unsigned short len;
	bool overflow; /* something did not fit */
};

/* AUDIT_ARCH_... of the processor that this code is compiled for, 0 for one without filters. */
uint32_t bpf_native_arch(void);
/* Kills who makes calls of another architecture: their numbers mean something else. */
void bpf_begin(struct bpf *bpf, uint32_t arch);
void bpf_put(struct bpf *bpf, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false);
void bpf_allow(struct bpf *bpf);
void bpf_errno(struct bpf *bpf, int error);
void bpf_load(struct bpf *bpf, size_t offset);
/* The low half: both architectures are little-endian. */
void bpf_load_argument(struct bpf *bpf, size_t argument);
/* Runs the next instruction when what was loaded is `value`, else the one after it. */
void bpf_if_equal(struct bpf *bpf, uint32_t value);
/* Skips `steps` instructions when what was loaded is `value`. */
void bpf_skip_if_equal(struct bpf *bpf, uint32_t value, uint8_t steps);
/* One answer for each of these calls. */
void bpf_list(struct bpf *bpf, const int *calls, size_t count, uint32_t answer);
/*
 * For all threads of the process and all that it starts, for good. Needs no_new_privs.
 * ERR_INTERNAL when the program is too long.
 */
int bpf_enter(const struct bpf *bpf, struct err *err) MUST_CHECK;

#endif
