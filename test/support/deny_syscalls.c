/* SPDX-License-Identifier: MIT */
/*
 * deny_syscalls.c - runs a command on a kernel that lacks some system calls.
 *
 * deny_syscalls NAME[=ERRNO][,NAME...] -- COMMAND [ARG...]
 *
 * Each named call, in the command and in everything that it starts, fails with ERRNO (a number;
 * ENOSYS without one). Exits 77 when the kernel has no seccomp filters, 2 when called wrongly.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define NATIVE_ARCH AUDIT_ARCH_RISCV64
#else
#define NATIVE_ARCH 0
#endif

enum { MAX_DENIED = 32, SKIPPED = 77 };

struct denied {
	uint32_t nr;
	uint32_t error;
};

static const struct {
	const char *name;
	uint32_t nr;
} known[] = {
#ifdef SYS_access
	{ "access", SYS_access },
#endif
	{ "clone3", SYS_clone3 },
	{ "close_range", SYS_close_range },
	{ "copy_file_range", SYS_copy_file_range },
	{ "epoll_pwait2", SYS_epoll_pwait2 },
	{ "execveat", SYS_execveat },
	{ "fsopen", SYS_fsopen },
	{ "getrandom", SYS_getrandom },
	{ "landlock_add_rule", SYS_landlock_add_rule },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset },
	{ "landlock_restrict_self", SYS_landlock_restrict_self },
	{ "memfd_create", SYS_memfd_create },
	{ "mount", SYS_mount },
	{ "mount_setattr", SYS_mount_setattr },
	{ "open_tree", SYS_open_tree },
	{ "openat2", SYS_openat2 },
	{ "pidfd_getfd", SYS_pidfd_getfd },
	{ "pidfd_open", SYS_pidfd_open },
	{ "pidfd_send_signal", SYS_pidfd_send_signal },
	{ "prlimit64", SYS_prlimit64 },
	{ "renameat2", SYS_renameat2 },
	{ "seccomp", SYS_seccomp },
	{ "sendfile", SYS_sendfile },
	{ "setns", SYS_setns },
	{ "statx", SYS_statx },
	{ "unshare", SYS_unshare },
};

static int find_call(const char *name, uint32_t *ret_nr)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) == 0) {
			*ret_nr = known[i].nr;
			return 0;
		}
	}
	return -1;
}

/* Splits `list` in place; returns how many calls it names, or -1. */
static int parse_list(char *list, struct denied *denied)
{
	int n = 0;

	for (char *name; (name = strsep(&list, ","));) {
		char *equals = strchr(name, '=');

		if (n == MAX_DENIED)
			return -1;
		denied[n].error = ENOSYS;
		if (equals) {
			*equals = '\0';
			denied[n].error = (uint32_t)strtoul(equals + 1, NULL, 10);
		}
		if (find_call(name, &denied[n].nr) < 0) {
			fprintf(stderr, "deny_syscalls: no call named '%s' in its table\n", name);
			return -1;
		}
		n++;
	}
	return n;
}

/* Calls of a foreign architecture pass: nothing that the tests start makes any. */
static int install_filter(const struct denied *denied, int n)
{
	struct sock_filter code[5 + 2 * MAX_DENIED] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short len = 4;
	struct sock_fprog program = { .filter = code };

	for (int i = 0; i < n; i++) {
		code[len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied[i].nr, 0, 1);
		code[len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (denied[i].error & SECCOMP_RET_DATA));
	}
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv)
{
	struct denied denied[MAX_DENIED];
	int n;

	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		fprintf(stderr,
			"usage: deny_syscalls NAME[=ERRNO][,NAME...] -- COMMAND [ARG...]\n");
		return 2;
	}
	n = parse_list(argv[1], denied);
	if (n < 0)
		return 2;
	if (NATIVE_ARCH == 0 || install_filter(denied, n) < 0) {
		printf("skipped: this kernel takes no seccomp filter\n");
		return SKIPPED;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
