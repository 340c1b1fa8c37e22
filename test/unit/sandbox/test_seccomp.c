/* SPDX-License-Identifier: MIT */
/*
 * The filter as data: every call number and every case of arguments, on both architectures (test
 * 43).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "bpf.h"
#include "sandbox/restrict/seccomp.h"

#define ALLOWED SECCOMP_RET_ALLOW
#define FAILS(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))
#define GARBAGE UINT64_C(0xfedcba9800000000) /* in the half that the kernel does not read */

static const uint32_t arches[] = {
	[SECCOMP_X86_64] = AUDIT_ARCH_X86_64,
	[SECCOMP_AARCH64] = AUDIT_ARCH_AARCH64,
};
static const struct seccomp_options all = { .unix_sockets = true, .inet_sockets = true };
static const struct seccomp_options host = { .host_pids = true, .host_files = true };

struct args {
	uint64_t at[6];
};

static uint32_t answer(enum seccomp_arch arch, const struct seccomp_options *options,
		       const struct seccomp_data *call)
{
	struct bpf program;
	struct err err = { 0 };

	if (seccomp_build(&program, arch, options, &err) < 0)
		fail_msg("%s", err.msg);
	return bpf_run(program.code, program.len, call);
}

static const struct seccomp_rule *find_rule(const char *name)
{
	for (size_t i = 0; i < seccomp_rule_count; i++)
		if (strcmp(seccomp_rules[i].name, name) == 0)
			return &seccomp_rules[i];
	fail_msg("no rule for %s", name);
	return NULL;
}

/* Expects the same result on each architecture that has the call. */
static void expect(const char *name, const struct seccomp_options *options, struct args args,
		   uint32_t expected)
{
	const struct seccomp_rule *rule = find_rule(name);

	for (enum seccomp_arch arch = 0; arch < SECCOMP_ARCHES; arch++) {
		struct seccomp_data call = { .nr = rule->numbers[arch], .arch = arches[arch] };
		uint32_t got;

		if (rule->numbers[arch] == SECCOMP_NONE)
			continue;
		memcpy(call.args, args.at, sizeof(call.args));
		got = answer(arch, options, &call);
		if (got != expected)
			fail_msg("%s(%#llx, %#llx, %#llx, %#llx) on %d: %#x, not %#x", name,
				 (unsigned long long)args.at[0], (unsigned long long)args.at[1],
				 (unsigned long long)args.at[2], (unsigned long long)args.at[3],
				 arch, got, expected);
	}
}

#define EXPECT(name, options, expected, ...)                                                       \
	expect(name, options, (struct args){ { __VA_ARGS__ } }, expected)

static void calls_without_a_rule_are_allowed_and_plain_rules_hold(void **state)
{
	(void)state;
	for (enum seccomp_arch arch = 0; arch < SECCOMP_ARCHES; arch++) {
		struct bpf program;
		enum seccomp_verdict verdicts[SECCOMP_HIGHEST + 1] = { SECCOMP_ALLOW };
		struct err err;

		assert_int_equal(seccomp_build(&program, arch, &all, &err), 0);
		for (size_t i = 0; i < seccomp_rule_count; i++)
			if (seccomp_rules[i].numbers[arch] != SECCOMP_NONE)
				verdicts[seccomp_rules[i].numbers[arch]] = seccomp_rules[i].verdict;
		for (int nr = 0; nr <= SECCOMP_HIGHEST; nr++) {
			struct seccomp_data call = { .nr = nr, .arch = arches[arch] };
			uint32_t expected = verdicts[nr] == SECCOMP_REFUSE   ? FAILS(EPERM)
					    : verdicts[nr] == SECCOMP_ABSENT ? FAILS(ENOSYS)
									     : ALLOWED;
			uint32_t got = bpf_run(program.code, program.len, &call);

			/*
			 * With zero arguments only; rules that compare arguments are tested below.
			 */
			if (verdicts[nr] == SECCOMP_FAMILIES || verdicts[nr] == SECCOMP_PAIRS)
				expected = FAILS(EAFNOSUPPORT);
			if (got != expected)
				fail_msg("call %d on %d: %#x, not %#x", nr, arch, got, expected);
		}
	}
}

/* Test 40, and x32's half of test 39. */
static void numbers_above_the_highest_known_do_not_exist(void **state)
{
	static const uint32_t numbers[] = { SECCOMP_HIGHEST + 1, 512,        1000,
					    UINT16_MAX,          0x3fffffff, 0x40000000,
					    0x7fffffff,          0x80000000, UINT32_MAX };

	(void)state;
	for (enum seccomp_arch arch = 0; arch < SECCOMP_ARCHES; arch++) {
		struct seccomp_data call = { .arch = arches[arch] };

		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
			call.nr = (int)numbers[i];
			assert_int_equal(answer(arch, &all, &call), FAILS(ENOSYS));
		}
		for (uint32_t nr = 0; nr <= SECCOMP_HIGHEST + 100; nr++) {
			call.nr = (int)(0x40000000 | nr);
			assert_int_equal(answer(arch, &all, &call), FAILS(ENOSYS));
		}
	}
}

/* Test 39. */
static void a_call_of_another_architecture_kills(void **state)
{
	static const uint32_t other_user[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64,
					       0, UINT32_MAX };

	(void)state;
	for (enum seccomp_arch arch = 0; arch < SECCOMP_ARCHES; arch++) {
		struct seccomp_data call = { .arch = arches[(arch + 1) % SECCOMP_ARCHES] };

		assert_int_equal(answer(arch, &all, &call), SECCOMP_RET_KILL_PROCESS);
		for (size_t i = 0; i < ARRAY_SIZE(other_user); i++) {
			call.arch = other_user[i];
			assert_int_equal(answer(arch, &all, &call), SECCOMP_RET_KILL_PROCESS);
		}
	}
}

/* Test 24. */
static void clone_makes_processes_and_threads_but_no_namespaces(void **state)
{
	static const uint64_t namespaces[] = { 0x80,         CLONE_NEWNS,  CLONE_NEWCGROUP,
					       CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
					       CLONE_NEWPID, CLONE_NEWNET };
	const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
				CLONE_CHILD_CLEARTID;

	(void)state;
	EXPECT("clone", &all, ALLOWED, SIGCHLD);
	EXPECT("clone", &all, ALLOWED, SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
	EXPECT("clone", &all, ALLOWED, SIGCHLD | CLONE_VM | CLONE_VFORK);
	EXPECT("clone", &all, ALLOWED, thread);
	EXPECT("clone", &all, ALLOWED, GARBAGE | SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		EXPECT("clone", &all, FAILS(EPERM), namespaces[i] | SIGCHLD);
		EXPECT("clone", &all, FAILS(EPERM), GARBAGE | namespaces[i]);
	}
	EXPECT("clone3", &all, FAILS(ENOSYS), 0);
}

/* Test 31. */
static void terminals_take_no_injected_input(void **state)
{
	static const uint64_t refused[] = { TIOCSTI, 0x541c, TIOCSETD };
	static const uint64_t allowed[] = { TCGETS,    TCSETS,    TIOCGWINSZ, TIOCSWINSZ,
					    TIOCSCTTY, FIONREAD,  TIOCGPTN,   TIOCSPTLCK,
					    TIOCGPGRP, TIOCSPGRP, TIOCNOTTY,  0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		EXPECT("ioctl", &all, FAILS(EPERM), 0, refused[i]);
		EXPECT("ioctl", &all, FAILS(EPERM), 0, GARBAGE | refused[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		EXPECT("ioctl", &all, ALLOWED, TIOCSTI, allowed[i]);
}

static void requests_of_file_systems_reach_no_files_of_the_host(void **state)
{
	static const uint64_t refused[] = {
		FS_IOC_SETFLAGS,
		FS_IOC32_SETFLAGS,
		FS_IOC_FSSETXATTR,
		FS_IOC_SETVERSION,
		FS_IOC_SETFSLABEL,
		FS_IOC_SET_ENCRYPTION_POLICY,
		FIFREEZE,
		FS_IOC_ADD_ENCRYPTION_KEY,
		FS_IOC_ENABLE_VERITY,
		FS_IOC_REMOVE_ENCRYPTION_KEY,
	};
	static const uint64_t allowed[] = { TCGETS,   FIONREAD,        FIOCLEX,
					    FICLONE,  FS_IOC_GETFLAGS, SIOCGIFCONF,
					    TIOCGPTN, FIDEDUPERANGE,   TIOCGWINSZ };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		EXPECT("ioctl", &host, FAILS(ENOTTY), 0, GARBAGE | refused[i]);
		EXPECT("ioctl", &all, ALLOWED, 0, refused[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		EXPECT("ioctl", &host, ALLOWED, 0, allowed[i]);
	EXPECT("ioctl", &host, FAILS(EPERM), 0, TIOCSTI);
}

static void files_take_no_leases(void **state)
{
	static const uint64_t refused[] = { F_SETLEASE, F_NOTIFY };
	static const uint64_t allowed[] = {
		F_DUPFD, F_GETFD,  F_SETFD,     F_GETFL,      F_SETFL,
		F_GETLK, F_SETLKW, F_OFD_SETLK, F_GETPIPE_SZ, F_GETLEASE
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		EXPECT("fcntl", &all, FAILS(EPERM), 0, GARBAGE | refused[i]);
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		EXPECT("fcntl", &all, ALLOWED, F_SETLEASE, allowed[i]);
	EXPECT("fcntl", &all, ALLOWED, 0, 1038 /* the last hint */);
	EXPECT("fcntl", &all, FAILS(EINVAL), 0, 1040 /* F_SETDELEG */);
	EXPECT("fcntl", &all, FAILS(EINVAL), 0, 2000);
}

/* Test 10. */
static void no_file_gets_a_set_id_bit(void **state)
{
	static const struct {
		const char *name;
		size_t mode;
	} calls[] = {
		{ "chmod", 1 },     { "fchmod", 1 }, { "fchmodat", 2 },
		{ "fchmodat2", 2 }, { "creat", 1 },  { "mkdir", 1 },
		{ "mkdirat", 2 },   { "mknod", 1 },  { "mknodat", 2 },
	};
	static const uint64_t refused[] = { 04755, 02755, 06000, 07777, 0104755 };
	static const uint64_t allowed[] = { 0, 0644, 0777, 01777, 0100644 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(refused); j++) {
			struct args args = { { 06000, 06000, 06000, 06000 } };

			args.at[calls[i].mode] = refused[j] | GARBAGE;
			expect(calls[i].name, &all, args, FAILS(EPERM));
		}
		for (size_t j = 0; j < ARRAY_SIZE(allowed); j++) {
			struct args args = { { 06000, 06000, 06000, 06000 } };

			args.at[calls[i].mode] = allowed[j];
			expect(calls[i].name, &all, args, ALLOWED);
		}
	}
}

static void opening_looks_at_the_mode_only_when_it_makes_a_file(void **state)
{
	static const uint64_t making[] = { O_CREAT, O_CREAT | O_EXCL | O_WRONLY, 020000000,
					   020000000 | O_RDWR | O_DIRECTORY };
	static const uint64_t plain[] = { O_RDONLY, O_RDWR | O_TRUNC, O_PATH, O_DIRECTORY };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(making); i++) {
		EXPECT("open", &all, FAILS(EPERM), 0, making[i], 06755);
		EXPECT("open", &all, ALLOWED, 0, making[i], 0666);
		EXPECT("openat", &all, FAILS(EPERM), 0, 0, making[i], 02644);
		EXPECT("openat", &all, ALLOWED, 06000, 06000, making[i], 01644);
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		EXPECT("open", &all, ALLOWED, 0, plain[i], UINT64_MAX);
		EXPECT("openat", &all, ALLOWED, 0, 0, plain[i], UINT64_MAX);
	}
	EXPECT("openat2", &all, FAILS(ENOSYS), 0);
}

/* Events of reading are refused unless the inodes are the session's own. */
static void a_watch_does_not_report_what_others_read(void **state)
{
	static const struct seccomp_options own = { .own_inodes = true };
	static const uint64_t read[] = { IN_ACCESS, IN_OPEN, IN_CLOSE_NOWRITE, IN_ALL_EVENTS };
	const uint64_t changed = IN_ALL_EVENTS & ~(IN_ACCESS | IN_OPEN | IN_CLOSE_NOWRITE);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(read); i++) {
		EXPECT("inotify_add_watch", &all, FAILS(EPERM), 3, 0, read[i]);
		EXPECT("inotify_add_watch", &all, FAILS(EPERM), 3, 0,
		       read[i] | IN_CREATE | GARBAGE);
		EXPECT("inotify_add_watch", &own, ALLOWED, 3, 0, read[i]);
	}
	EXPECT("inotify_add_watch", &all, ALLOWED, 3, 0, changed | IN_ONLYDIR | IN_DONT_FOLLOW);
	EXPECT("inotify_add_watch", &host, FAILS(ENOSYS), 3, 0, IN_CREATE);
	EXPECT("inotify_init", &host, FAILS(ENOSYS), 0);
	EXPECT("inotify_init1", &host, FAILS(ENOSYS), IN_CLOEXEC);
	EXPECT("inotify_init1", &all, ALLOWED, IN_CLOEXEC);
}

static void attributes_of_the_hosts_files_are_out_of_reach(void **state)
{
	static const char *const names[] = {
		"setxattr",   "lsetxattr",  "fsetxattr",   "getxattr",      "lgetxattr",
		"listxattr",  "llistxattr", "removexattr", "lremovexattr",  "fremovexattr",
		"setxattrat", "getxattrat", "listxattrat", "removexattrat", "file_setattr",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT(names[i], &host, FAILS(EOPNOTSUPP), 0);
		EXPECT(names[i], &all, ALLOWED, 0);
	}
}

/* Test 38. */
static void sockets_have_four_families_at_most(void **state)
{
	static const struct seccomp_options cases[] = {
		{ .unix_sockets = false },
		{ .unix_sockets = true },
		{ .inet_sockets = true },
		{ .unix_sockets = true, .inet_sockets = true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (uint64_t family = 0; family < 64; family++) {
			uint32_t expected = FAILS(EAFNOSUPPORT);

			if (family == AF_UNIX)
				expected = cases[i].unix_sockets ? ALLOWED : FAILS(EACCES);
			if (family == AF_INET || family == AF_INET6 || family == AF_NETLINK)
				expected = cases[i].inet_sockets ? ALLOWED : FAILS(EACCES);
			EXPECT("socket", &cases[i], expected, family, SOCK_STREAM);
			EXPECT("socket", &cases[i], expected, GARBAGE | family, SOCK_RAW);
		}
}

static void sockets_have_the_usual_protocols_only(void **state)
{
	static const uint64_t usual[] = { 0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP,
					  IPPROTO_ICMPV6 };
	static const uint64_t families[] = { AF_INET, AF_INET6 };

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		for (uint64_t protocol = 0; protocol < 300; protocol++) {
			uint32_t expected = FAILS(EPROTONOSUPPORT);

			for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
				if (protocol == usual[i])
					expected = ALLOWED;
			EXPECT("socket", &all, expected, families[f], SOCK_STREAM | SOCK_CLOEXEC,
			       protocol);
			EXPECT("socket", &all, expected, families[f], SOCK_DGRAM, protocol);
		}
		for (uint64_t type = 0; type <= 0xf; type++)
			EXPECT("socket", &all,
			       type >= SOCK_STREAM && type <= SOCK_RAW ? ALLOWED
								       : FAILS(ESOCKTNOSUPPORT),
			       families[f], SOCK_NONBLOCK | type);
	}
	EXPECT("socket", &all, ALLOWED, AF_NETLINK, SOCK_RAW, 0);
	for (uint64_t protocol = 1; protocol < 32; protocol++)
		EXPECT("socket", &all, FAILS(EPROTONOSUPPORT), AF_NETLINK, SOCK_RAW, protocol);
	EXPECT("socket", &all, ALLOWED, AF_UNIX, SOCK_DGRAM, 1);
}

static void a_pair_is_no_way_to_a_socket_that_reaches_others(void **state)
{
	static const uint64_t flags[] = { 0, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC, GARBAGE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		EXPECT("socketpair", &host, ALLOWED, AF_UNIX, SOCK_STREAM | flags[i]);
		EXPECT("socketpair", &host, ALLOWED, AF_UNIX, SOCK_SEQPACKET | flags[i]);
		EXPECT("socketpair", &host, FAILS(EACCES), AF_UNIX, SOCK_DGRAM | flags[i]);
		EXPECT("socketpair", &host, FAILS(EACCES), AF_UNIX, SOCK_RAW | flags[i]);
		EXPECT("socketpair", &all, ALLOWED, AF_UNIX, SOCK_DGRAM | flags[i]);
	}
	for (uint64_t family = 0; family < 64; family++)
		if (family != AF_UNIX)
			EXPECT("socketpair", &all, FAILS(EAFNOSUPPORT), family, SOCK_STREAM);
}

/* Test 41. */
static void the_personality_stays(void **state)
{
	(void)state;
	EXPECT("personality", &all, ALLOWED, 0);
	EXPECT("personality", &all, ALLOWED, UINT32_MAX);
	EXPECT("personality", &all, ALLOWED, UINT64_MAX);
	EXPECT("personality", &all, FAILS(EPERM), 0x0040000); /* ADDR_NO_RANDOMIZE */
	EXPECT("personality", &all, FAILS(EPERM), 8);
	EXPECT("personality", &all, FAILS(EPERM), GARBAGE | 0x0400000);
}

static void scheduling_is_the_callers_where_others_can_be_named(void **state)
{
	static const char *const calls[] = { "sched_setaffinity", "sched_setattr", "sched_setparam",
					     "sched_setscheduler" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		EXPECT(calls[i], &host, ALLOWED, 0, 1, 2);
		EXPECT(calls[i], &host, ALLOWED, GARBAGE, 1, 2);
		EXPECT(calls[i], &host, FAILS(EPERM), 4711, 0);
		EXPECT(calls[i], &all, ALLOWED, 4711, 0);
	}
	EXPECT("setpriority", &host, ALLOWED, 0, 0);
	EXPECT("setpriority", &host, ALLOWED, 1, 0);
	EXPECT("setpriority", &host, FAILS(EPERM), 0, 4711);
	EXPECT("setpriority", &host, FAILS(EPERM), 1, 4711);
	EXPECT("setpriority", &host, FAILS(EPERM), 2, 0);
	EXPECT("setpriority", &all, ALLOWED, 0, 4711);
	EXPECT("ioprio_set", &host, ALLOWED, 1, 0);
	EXPECT("ioprio_set", &host, ALLOWED, 2, 0);
	EXPECT("ioprio_set", &host, FAILS(EPERM), 1, 4711);
	EXPECT("ioprio_set", &host, FAILS(EPERM), 3, 0);
}

/* Tests 17 and 61. */
static void limits_are_set_by_the_caller_for_itself(void **state)
{
	const uint64_t odd = UINT64_C(0x100000000); /* a pointer whose low half is 0 */

	(void)state;
	EXPECT("prlimit64", &all, ALLOWED, 0, RLIMIT_NPROC, 2);
	EXPECT("prlimit64", &all, ALLOWED, 4711, RLIMIT_NPROC, 0, 2);
	EXPECT("prlimit64", &all, FAILS(EPERM), 4711, RLIMIT_NPROC, 2);
	EXPECT("prlimit64", &all, FAILS(EPERM), 4711, RLIMIT_NPROC, odd);
	EXPECT("prlimit64", &host, ALLOWED, GARBAGE, RLIMIT_NPROC, 2);
	EXPECT("prlimit64", &host, ALLOWED, 0, RLIMIT_CORE, 0, 2);
	EXPECT("prlimit64", &host, FAILS(EPERM), 4711, RLIMIT_NPROC, 0, 2);
	EXPECT("setrlimit", &all, ALLOWED, RLIMIT_CPU, 2);
}

/* Test 42: at 0 dumps would go to the program that the host pipes them to. */
static void the_limit_of_core_dumps_stays_and_setting_it_looks_done(void **state)
{
	(void)state;
	EXPECT("setrlimit", &all, FAILS(0), RLIMIT_CORE, 2);
	EXPECT("prlimit64", &all, FAILS(0), 0, RLIMIT_CORE, 2);
	EXPECT("prlimit64", &host, FAILS(0), 0, GARBAGE | RLIMIT_CORE, 2);
	EXPECT("prlimit64", &all, FAILS(EPERM), 0, RLIMIT_CORE, 2, 3);
	EXPECT("prlimit64", &all, FAILS(EPERM), 0, RLIMIT_CORE, 2, UINT64_C(0x100000000));
	EXPECT("prlimit64", &all, ALLOWED, 0, RLIMIT_CORE, 0, 3);
}

/* The kernel must agree with the evaluator of these tests. */
static void the_kernel_takes_the_filter(void **state)
{
	int wait_status = -1;
	pid_t pid;

	(void)state;
	if (seccomp_native() == SECCOMP_ARCHES)
		skip();
	pid = fork();
	if (pid == 0) {
		struct err err;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || seccomp_enter(&host, &err) < 0)
			_exit(1);
		if (unshare(CLONE_NEWUSER) == 0 || errno != EPERM)
			_exit(2);
		if (socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 || errno != EACCES)
			_exit(3);
		if (syscall(SECCOMP_HIGHEST + 1) >= 0 || errno != ENOSYS)
			_exit(4);
		_exit(getppid() > 0 ? 0 : 5);
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_int_equal(wait_status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_without_a_rule_are_allowed_and_plain_rules_hold),
		cmocka_unit_test(numbers_above_the_highest_known_do_not_exist),
		cmocka_unit_test(a_call_of_another_architecture_kills),
		cmocka_unit_test(clone_makes_processes_and_threads_but_no_namespaces),
		cmocka_unit_test(terminals_take_no_injected_input),
		cmocka_unit_test(requests_of_file_systems_reach_no_files_of_the_host),
		cmocka_unit_test(files_take_no_leases),
		cmocka_unit_test(no_file_gets_a_set_id_bit),
		cmocka_unit_test(opening_looks_at_the_mode_only_when_it_makes_a_file),
		cmocka_unit_test(a_watch_does_not_report_what_others_read),
		cmocka_unit_test(attributes_of_the_hosts_files_are_out_of_reach),
		cmocka_unit_test(sockets_have_four_families_at_most),
		cmocka_unit_test(sockets_have_the_usual_protocols_only),
		cmocka_unit_test(a_pair_is_no_way_to_a_socket_that_reaches_others),
		cmocka_unit_test(the_personality_stays),
		cmocka_unit_test(scheduling_is_the_callers_where_others_can_be_named),
		cmocka_unit_test(limits_are_set_by_the_caller_for_itself),
		cmocka_unit_test(the_limit_of_core_dumps_stays_and_setting_it_looks_done),
		cmocka_unit_test(the_kernel_takes_the_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
