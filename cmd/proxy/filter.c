/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/util.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

/* The second half of x86-64's numbers, for another ABI (x32). */
#define FOREIGN_NUMBERS 0x40000000U

enum { PROGRAM_MAX = 128 };

/* Everything that the loop, its sockets and the C library below it call. */
static const int proxy_calls[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_recvfrom,
	SYS_sendto,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_accept4,
	SYS_connect,
	SYS_shutdown,
	SYS_close,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_ppoll,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_futex,
	SYS_getrandom,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_sigaltstack,
	SYS_exit,
	SYS_exit_group,
	SYS_getpid,
	SYS_gettid,
	SYS_sched_yield,
	SYS_fcntl,
	SYS_restart_syscall,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
	SYS_poll,
#endif
};

/* What no lookup needs: programs, other processes, the kernel's large surfaces. */
static const int resolver_refused[] = {
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

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short len;
};

static void put(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	p->code[p->len++] = (struct sock_filter){ .code = code, .k = k, .jt = jt, .jf = jf };
}

static void put_load(struct program *p, size_t offset)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void put_answer(struct program *p, uint32_t answer)
{
	put(p, BPF_RET | BPF_K, answer, 0, 0);
}

static void put_equal(struct program *p, uint32_t value, uint8_t jt, uint8_t jf)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, value, jt, jf);
}

static size_t argument(size_t index)
{
	/* Both architectures are little-endian: the low half comes first. */
	return offsetof(struct seccomp_data, args) + index * sizeof(uint64_t);
}

static void put_head(struct program *p)
{
	put_load(p, offsetof(struct seccomp_data, arch));
	put_equal(p, NATIVE_ARCH, 1, 0);
	put_answer(p, SECCOMP_RET_KILL_PROCESS);
	put_load(p, offsetof(struct seccomp_data, nr));
	put(p, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_NUMBERS, 0, 1);
	put_answer(p, SECCOMP_RET_ERRNO | ENOSYS);
}

static void put_list(struct program *p, const int *calls, size_t count, uint32_t answer)
{
	for (size_t i = 0; i < count; i++) {
		put_equal(p, (uint32_t)calls[i], 0, 1);
		put_answer(p, answer);
	}
}

/* socket: TCP over IPv4 or IPv6, nothing else. */
static void put_socket(struct program *p)
{
	put_equal(p, SYS_socket, 0, 7);
	put_load(p, argument(0));
	put_equal(p, AF_INET, 1, 0);
	put_equal(p, AF_INET6, 0, 4);
	put_load(p, argument(1));
	put(p, BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK), 0, 0);
	put_equal(p, SOCK_STREAM, 0, 1);
	put_answer(p, SECCOMP_RET_ALLOW);
}

static int enter(struct program *p, struct err *err)
{
	struct sock_fprog fprog = { .len = p->len, .filter = p->code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog, 0, 0) < 0)
		return err_sys(err, "entering the system call filter");
	return 0;
}

int filter_proxy(struct err *err)
{
	struct program p = { .len = 0 };

	put_head(&p);
	put_list(&p, proxy_calls, ARRAY_SIZE(proxy_calls), SECCOMP_RET_ALLOW);
	put_socket(&p);
	put_answer(&p, SECCOMP_RET_ERRNO | EPERM);
	return enter(&p, err);
}

int filter_resolver(struct err *err)
{
	struct program p = { .len = 0 };

	put_head(&p);
	put_list(&p, resolver_refused, ARRAY_SIZE(resolver_refused), SECCOMP_RET_ERRNO | EPERM);
	put_answer(&p, SECCOMP_RET_ALLOW);
	return enter(&p, err);
}
