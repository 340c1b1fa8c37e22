/* SPDX-License-Identifier: MIT */
/*
 * seccomp.c - allows a list of system calls. The list is exact, unlike the wide filter of other
 * helpers: this process reads what session code sends. A socket may only be TCP over IPv4 or IPv6,
 * which a list of numbers cannot express.
 */
#include "seccomp.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/util.h"
#include "lockdown/bpf.h"
#include "lockdown/seccomp_helper.h"

/* The calls of the loop, its sockets and the C library below them. */
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

/* Allows socket() for TCP over IPv4 or IPv6 only. */
static void put_socket(struct bpf *bpf)
{
	bpf_put(bpf, BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 7);
	bpf_load_argument(bpf, 0);
	bpf_skip_if_equal(bpf, AF_INET, 1);
	bpf_put(bpf, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4);
	bpf_load_argument(bpf, 1);
	bpf_put(bpf, BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK), 0, 0);
	bpf_if_equal(bpf, SOCK_STREAM);
	bpf_allow(bpf);
}

int seccomp_proxy(struct err *err)
{
	struct bpf bpf;

	seccomp_helper_begin(&bpf, proxy_calls, ARRAY_SIZE(proxy_calls));
	put_socket(&bpf);
	return seccomp_helper_enter(&bpf, err);
}
