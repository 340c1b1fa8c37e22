/* SPDX-License-Identifier: MIT */
/*
 * bpf.h - builds a seccomp filter, instruction by instruction.
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
	bool overflow; /* an instruction did not fit */
};

/*
 * Returns AUDIT_ARCH_... of the processor that this code is compiled for, 0 for one without
 * filters.
 */
uint32_t bpf_native_arch(void);
/*
 * Begins a program. It kills callers that use another architecture's calls, because their numbers
 * mean something else.
 */
void bpf_begin(struct bpf *bpf, uint32_t arch);
void bpf_put(struct bpf *bpf, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false);
void bpf_allow(struct bpf *bpf);
void bpf_errno(struct bpf *bpf, int error);
/* Loads 32 bits of struct seccomp_data at `offset`. */
void bpf_load(struct bpf *bpf, size_t offset);
/* Loads the low half of an argument: both architectures are little-endian. */
void bpf_load_argument(struct bpf *bpf, size_t argument);
/* Runs the next instruction if the loaded value is `value`, else the one after it. */
void bpf_if_equal(struct bpf *bpf, uint32_t value);
/* Skips `steps` instructions if the loaded value is `value`. */
void bpf_skip_if_equal(struct bpf *bpf, uint32_t value, uint8_t steps);
/* Adds one answer for each of these calls. */
void bpf_list(struct bpf *bpf, const int *calls, size_t count, uint32_t answer);
/*
 * Loads the filter for all threads of the process and everything that it starts, for good. Needs
 * no_new_privs. Returns -1 and sets *err; ERR_INTERNAL if the program is too long.
 */
int bpf_enter(const struct bpf *bpf, struct err *err) MUST_CHECK;

#endif
