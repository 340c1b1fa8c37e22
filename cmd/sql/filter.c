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

enum { PROGRAM_MAX = 200 };

/* SQLite, the file with the rows, the C library below them. */
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

static const int driver_refused[] = {
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

static void put_answer(struct program *p, uint32_t answer)
{
	put(p, BPF_RET | BPF_K, answer, 0, 0);
}

static void put_head(struct program *p)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch), 0, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	put_answer(p, SECCOMP_RET_KILL_PROCESS);
	put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr), 0, 0);
	put(p, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_NUMBERS, 0, 1);
	put_answer(p, SECCOMP_RET_ERRNO | ENOSYS);
}

static void put_list(struct program *p, const int *calls, size_t count, uint32_t answer)
{
	for (size_t i = 0; i < count; i++) {
		put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		put_answer(p, answer);
	}
}

static int enter(struct program *p, struct err *err)
{
	struct sock_fprog fprog = { .len = p->len, .filter = p->code };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &fprog) != 0)
		return err_sys(err, "entering the system call filter");
	return 0;
}

int filter_local(struct err *err)
{
	struct program p = { .len = 0 };

	put_head(&p);
	put_list(&p, local_calls, ARRAY_SIZE(local_calls), SECCOMP_RET_ALLOW);
	put_answer(&p, SECCOMP_RET_ERRNO | EPERM);
	return enter(&p, err);
}

int filter_driver(struct err *err)
{
	struct program p = { .len = 0 };

	put_head(&p);
	put_list(&p, driver_refused, ARRAY_SIZE(driver_refused), SECCOMP_RET_ERRNO | EPERM);
	put_answer(&p, SECCOMP_RET_ALLOW);
	return enter(&p, err);
}
