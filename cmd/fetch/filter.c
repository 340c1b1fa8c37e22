/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

/* The second half of x86-64's numbers, for another ABI (x32). */
#define FOREIGN_NUMBERS 0x40000000U

enum { PROGRAM_MAX = 128 };

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
	SYS_fchmod,
	SYS_fchmodat,
	SYS_fchown,
	SYS_fchownat,
	SYS_fsetxattr,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_utimensat,
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
#endif
};

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short len;
};

static void put(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	p->code[p->len++] = (struct sock_filter){ .code = code, .k = k, .jt = jt, .jf = jf };
}

static void put_answer(struct program *p, uint32_t answer)
{
	put(p, BPF_RET | BPF_K, answer, 0, 0);
}

int filter_enter(struct err *err)
{
	struct program p = { .len = 0 };
	struct sock_fprog fprog = { .filter = p.code };

	put(&p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch), 0, 0);
	put(&p, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	put_answer(&p, SECCOMP_RET_KILL_PROCESS);
	put(&p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr), 0, 0);
	put(&p, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_NUMBERS, 0, 1);
	put_answer(&p, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		put(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refused[i], 0, 1);
		put_answer(&p, SECCOMP_RET_ERRNO | EPERM);
	}
	put_answer(&p, SECCOMP_RET_ALLOW);
	fprog.len = p.len;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &fprog) != 0)
		return err_sys(err, "entering the system call filter");
	return 0;
}
