/* SPDX-License-Identifier: MIT */
/*
 * seccomp_helper.c - a strict list of allowed calls for helpers whose calls we know, and a list of
 * refused ones for helpers that load libraries. Refused calls fail with an error instead of killing
 * the process, because libraries try calls and fall back.
 */
#include "lockdown/seccomp_helper.h"

#include <errno.h>
#include <sys/syscall.h>

#include "base/util.h"
#include "lockdown/bpf.h"

/* Numbers from here on belong to another ABI of x86-64 (x32). */
#define X32_NUMBERS 0x40000000U

static const int refused[] = {
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_unshare,
	SYS_setns,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_open_by_handle_at,
	SYS_memfd_create,
	SYS_pidfd_getfd,
	SYS_kcmp,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
};

void seccomp_helper_begin(struct bpf *bpf, const int *calls, size_t count)
{
	bpf_begin(bpf, bpf_native_arch());
	bpf_list(bpf, calls, count, SECCOMP_RET_ALLOW);
}

int seccomp_helper_enter(struct bpf *bpf, struct err *err)
{
	bpf_errno(bpf, EPERM);
	return bpf_enter(bpf, err);
}

int seccomp_helper_enter_wide(const int *also, size_t count, struct err *err)
{
	struct bpf bpf;

	bpf_begin(&bpf, bpf_native_arch());
	bpf_put(&bpf, BPF_JMP | BPF_JGE | BPF_K, X32_NUMBERS, 0, 1);
	bpf_errno(&bpf, ENOSYS);
	bpf_list(&bpf, refused, ARRAY_SIZE(refused), SECCOMP_RET_ERRNO | EPERM);
	bpf_list(&bpf, also, count, SECCOMP_RET_ERRNO | EPERM);
	bpf_allow(&bpf);
	return bpf_enter(&bpf, err);
}
