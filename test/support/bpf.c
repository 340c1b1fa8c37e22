/* SPDX-License-Identifier: MIT */
/*
 * bpf.c - an interpreter of the few instructions that our filters have. It aborts the test at any
 * other one, so that a new instruction is added here, and not ignored.
 */
#include "bpf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int ok, const char *what, size_t at)
{
	if (ok)
		return;
	fprintf(stderr, "filter, instruction %zu: %s\n", at, what);
	abort();
}

static uint32_t load(const struct seccomp_data *call, uint32_t offset, size_t at)
{
	uint32_t value;

	check(offset % sizeof(value) == 0 && offset < sizeof(*call), "a load from elsewhere", at);
	memcpy(&value, (const char *)call + offset, sizeof(value));
	return value;
}

static int condition(const struct sock_filter *step, uint32_t value, size_t at)
{
	switch (BPF_OP(step->code)) {
	case BPF_JEQ:
		return value == step->k;
	case BPF_JGT:
		return value > step->k;
	case BPF_JGE:
		return value >= step->k;
	case BPF_JSET:
		return (value & step->k) != 0;
	default:
		check(0, "an unknown condition", at);
		return 0;
	}
}

uint32_t bpf_run(const struct sock_filter *code, size_t len, const struct seccomp_data *call)
{
	uint32_t value = 0;

	for (size_t at = 0;; at++) {
		const struct sock_filter *step = &code[at];

		check(at < len, "past the end", at);
		switch (step->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			value = load(call, step->k, at);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			value &= step->k;
			break;
		case BPF_RET | BPF_K:
			return step->k;
		default:
			check(BPF_CLASS(step->code) == BPF_JMP && BPF_SRC(step->code) == BPF_K,
			      "an unknown instruction", at);
			at += condition(step, value, at) ? step->jt : step->jf;
		}
	}
}
