/* SPDX-License-Identifier: MIT */
/*
 * seccomp.c - allows a list of system calls. The list is exact and allows no sockets and no new
 * processes. With an ODBC driver it cannot be used: drivers call what they like, and lockdown.c
 * takes the wide filter.
 */
#include "seccomp.h"

#include <sys/syscall.h>

#include "base/util.h"
#include "lockdown/bpf.h"
#include "lockdown/seccomp_helper.h"

/* The calls of SQLite, the result files and the C library below them. */
static const int local_calls[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_lseek,
	SYS_close,
	SYS_openat,
	SYS_openat2,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_fcntl,
	SYS_getdents64,
	SYS_unlinkat,
	SYS_renameat,
	SYS_renameat2,
	SYS_linkat,
	SYS_mkdirat,
	SYS_fchown,
	SYS_fchownat,
	SYS_fchmod,
	SYS_ftruncate,
	SYS_fsync,
	SYS_faccessat,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_geteuid,
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_futex,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_getrandom,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
	SYS_exit,
	SYS_exit_group,
	SYS_getpid,
	SYS_gettid,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_sched_yield,
	SYS_restart_syscall,
#ifdef SYS_open
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_unlink,
	SYS_nanosleep,
#endif
};

int seccomp_local(struct err *err)
{
	struct bpf bpf;

	seccomp_helper_begin(&bpf, local_calls, ARRAY_SIZE(local_calls));
	return seccomp_helper_enter(&bpf, err);
}
