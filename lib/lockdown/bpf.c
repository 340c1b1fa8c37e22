/* SPDX-License-Identifier: MIT */
/*
 * bpf.c - assembles classic BPF for seccomp without libseccomp: two architectures and a few
 * comparisons need no library. Jumps are at most one or a few instructions long, so no labels are
 * needed. The architecture is checked first: a 32-bit call on x86-64 has other numbers.
 */
#include "lockdown/bpf.h"

#include <linux/audit.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t bpf_native_arch(void)
{
#if defined(__x86_64__)
	return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
	return AUDIT_ARCH_AARCH64;
#else
	return 0;
#endif
}

void bpf_put(struct bpf *bpf, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
	if (bpf->len == BPF_CODE_MAX) {
		bpf->overflow = true;
		return;
	}
	bpf->code[bpf->len++] = (struct sock_filter){ code, if_true, if_false, k };
}

static void put_return(struct bpf *bpf, uint32_t answer)
{
	bpf_put(bpf, BPF_RET | BPF_K, answer, 0, 0);
}

void bpf_allow(struct bpf *bpf)
{
	put_return(bpf, SECCOMP_RET_ALLOW);
}

void bpf_errno(struct bpf *bpf, int error)
{
	put_return(bpf, SECCOMP_RET_ERRNO | (uint32_t)error);
}

void bpf_load(struct bpf *bpf, size_t offset)
{
	bpf_put(bpf, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

void bpf_load_argument(struct bpf *bpf, size_t argument)
{
	bpf_load(bpf, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

void bpf_if_equal(struct bpf *bpf, uint32_t value)
{
	bpf_put(bpf, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

void bpf_skip_if_equal(struct bpf *bpf, uint32_t value, uint8_t steps)
{
	bpf_put(bpf, BPF_JMP | BPF_JEQ | BPF_K, value, steps, 0);
}

void bpf_begin(struct bpf *bpf, uint32_t arch)
{
	bpf->len = 0;
	bpf->overflow = false;
	bpf_load(bpf, offsetof(struct seccomp_data, arch));
	bpf_skip_if_equal(bpf, arch, 1);
	put_return(bpf, SECCOMP_RET_KILL_PROCESS);
	bpf_load(bpf, offsetof(struct seccomp_data, nr));
}

void bpf_list(struct bpf *bpf, const int *calls, size_t count, uint32_t answer)
{
	for (size_t i = 0; i < count; i++) {
		bpf_if_equal(bpf, (uint32_t)calls[i]);
		put_return(bpf, answer);
	}
}

int bpf_enter(const struct bpf *bpf, struct err *err)
{
	/* The kernel only reads it. */
	struct sock_fprog raw = { .len = bpf->len,
				  .filter = (struct sock_filter *)(uintptr_t)bpf->code };

	if (bpf->overflow)
		return err_set(err, ERR_INTERNAL, "the filter of system calls is too long");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &raw) != 0)
		return err_sys(err, "loading the filter of system calls");
	return 0;
}
