/* SPDX-License-Identifier: MIT */
/*
 * seccomp_table.c - the system calls that sessions may not make, or only with some arguments.
 *
 * A call is refused when it reaches other namespaces, processes or files than the session's own, or
 * has a long record of kernel bugs. Numbers of both architectures are listed on every build, so
 * that both filters can be tested on one machine.
 */
#include "sandbox/restrict/seccomp.h"

#include "base/util.h"

/* Rows have the numbers of both architectures, so that both filters can be tested everywhere. */
#define RULE(name, x86_64, aarch64, verdict)                                                       \
	{                                                                                          \
		name, { [SECCOMP_X86_64] = (x86_64), [SECCOMP_AARCH64] = (aarch64) }, verdict      \
	}
#define NONE SECCOMP_NONE

const struct seccomp_rule seccomp_rules[] = {
	/* Ways into other namespaces. clone3's flags are behind a pointer, so it is absent. */
	RULE("clone3", 435, 435, SECCOMP_ABSENT),
	RULE("clone", 56, 220, SECCOMP_NO_NAMESPACES),
	RULE("unshare", 272, 97, SECCOMP_REFUSE),
	RULE("setns", 308, 268, SECCOMP_REFUSE),
	/* Mounts, including the whole new interface (CVE-2021-41133). */
	RULE("mount", 165, 40, SECCOMP_REFUSE),
	RULE("umount2", 166, 39, SECCOMP_REFUSE),
	RULE("pivot_root", 155, 41, SECCOMP_REFUSE),
	RULE("chroot", 161, 51, SECCOMP_REFUSE),
	RULE("open_tree", 428, 428, SECCOMP_REFUSE),
	RULE("open_tree_attr", 467, 467, SECCOMP_REFUSE),
	RULE("move_mount", 429, 429, SECCOMP_REFUSE),
	RULE("fsopen", 430, 430, SECCOMP_REFUSE),
	RULE("fsconfig", 431, 431, SECCOMP_REFUSE),
	RULE("fsmount", 432, 432, SECCOMP_REFUSE),
	RULE("fspick", 433, 433, SECCOMP_REFUSE),
	RULE("mount_setattr", 442, 442, SECCOMP_REFUSE),
	/* Memory and descriptors of other processes. */
	RULE("ptrace", 101, 117, SECCOMP_REFUSE),
	RULE("process_vm_readv", 310, 270, SECCOMP_REFUSE),
	RULE("process_vm_writev", 311, 271, SECCOMP_REFUSE),
	RULE("kcmp", 312, 272, SECCOMP_REFUSE),
	RULE("pidfd_getfd", 438, 438, SECCOMP_REFUSE),
	RULE("process_madvise", 440, 440, SECCOMP_REFUSE),
	/* Large interfaces with a long record of vulnerabilities. */
	RULE("bpf", 321, 280, SECCOMP_REFUSE),
	RULE("perf_event_open", 298, 241, SECCOMP_REFUSE),
	RULE("userfaultfd", 323, 282, SECCOMP_REFUSE),
	RULE("io_uring_setup", 425, 425, SECCOMP_REFUSE),
	RULE("io_uring_enter", 426, 426, SECCOMP_REFUSE),
	RULE("io_uring_register", 427, 427, SECCOMP_REFUSE),
	/* Keyrings: possession survives a user namespace. */
	RULE("keyctl", 250, 219, SECCOMP_REFUSE),
	RULE("add_key", 248, 217, SECCOMP_REFUSE),
	RULE("request_key", 249, 218, SECCOMP_REFUSE),
	/* Settings of the whole machine. */
	RULE("init_module", 175, 105, SECCOMP_REFUSE),
	RULE("finit_module", 313, 273, SECCOMP_REFUSE),
	RULE("delete_module", 176, 106, SECCOMP_REFUSE),
	RULE("create_module", 174, NONE, SECCOMP_REFUSE),
	RULE("get_kernel_syms", 177, NONE, SECCOMP_REFUSE),
	RULE("query_module", 178, NONE, SECCOMP_REFUSE),
	RULE("kexec_load", 246, 104, SECCOMP_REFUSE),
	RULE("kexec_file_load", 320, 294, SECCOMP_REFUSE),
	RULE("reboot", 169, 142, SECCOMP_REFUSE),
	RULE("swapon", 167, 224, SECCOMP_REFUSE),
	RULE("swapoff", 168, 225, SECCOMP_REFUSE),
	RULE("acct", 163, 89, SECCOMP_REFUSE),
	RULE("quotactl", 179, 60, SECCOMP_REFUSE),
	RULE("quotactl_fd", 443, 443, SECCOMP_REFUSE),
	RULE("syslog", 103, 116, SECCOMP_REFUSE),
	RULE("iopl", 172, NONE, SECCOMP_REFUSE),
	RULE("ioperm", 173, NONE, SECCOMP_REFUSE),
	RULE("settimeofday", 164, 170, SECCOMP_REFUSE),
	RULE("clock_settime", 227, 112, SECCOMP_REFUSE),
	RULE("clock_adjtime", 305, 266, SECCOMP_REFUSE),
	RULE("adjtimex", 159, 171, SECCOMP_REFUSE),
	RULE("sethostname", 170, 161, SECCOMP_REFUSE),
	RULE("setdomainname", 171, 162, SECCOMP_REFUSE),
	/* Files by handle, and watches on whole file systems. */
	RULE("fanotify_init", 300, 262, SECCOMP_REFUSE),
	RULE("fanotify_mark", 301, 263, SECCOMP_REFUSE),
	RULE("inotify_init", 253, NONE, SECCOMP_NO_WATCHES),
	RULE("inotify_init1", 294, 26, SECCOMP_NO_WATCHES),
	RULE("inotify_add_watch", 254, 27, SECCOMP_WATCHED),
	RULE("name_to_handle_at", 303, 264, SECCOMP_REFUSE),
	RULE("open_by_handle_at", 304, 265, SECCOMP_REFUSE),
	/*
	 * Extended attributes, which landlock does not cover. By descriptor, those of open files
	 * can be read.
	 */
	RULE("setxattr", 188, 5, SECCOMP_NO_ATTRIBUTES),
	RULE("lsetxattr", 189, 6, SECCOMP_NO_ATTRIBUTES),
	RULE("fsetxattr", 190, 7, SECCOMP_NO_ATTRIBUTES),
	RULE("getxattr", 191, 8, SECCOMP_NO_ATTRIBUTES),
	RULE("lgetxattr", 192, 9, SECCOMP_NO_ATTRIBUTES),
	RULE("listxattr", 194, 11, SECCOMP_NO_ATTRIBUTES),
	RULE("llistxattr", 195, 12, SECCOMP_NO_ATTRIBUTES),
	RULE("removexattr", 197, 14, SECCOMP_NO_ATTRIBUTES),
	RULE("lremovexattr", 198, 15, SECCOMP_NO_ATTRIBUTES),
	RULE("fremovexattr", 199, 16, SECCOMP_NO_ATTRIBUTES),
	RULE("setxattrat", 463, 463, SECCOMP_NO_ATTRIBUTES),
	RULE("getxattrat", 464, 464, SECCOMP_NO_ATTRIBUTES),
	RULE("listxattrat", 465, 465, SECCOMP_NO_ATTRIBUTES),
	RULE("removexattrat", 466, 466, SECCOMP_NO_ATTRIBUTES),
	RULE("file_setattr", 469, 469, SECCOMP_NO_ATTRIBUTES),
	/* Internal to kernel probes: the kernel kills a caller that no probe sent. */
	RULE("uretprobe", 335, NONE, SECCOMP_ABSENT),
	RULE("uprobe", 336, NONE, SECCOMP_ABSENT),
	/* NUMA moves, pages lent to pipes, segments. */
	RULE("move_pages", 279, 239, SECCOMP_REFUSE),
	RULE("migrate_pages", 256, 238, SECCOMP_REFUSE),
	RULE("mbind", 237, 235, SECCOMP_REFUSE),
	RULE("set_mempolicy", 238, 237, SECCOMP_REFUSE),
	RULE("set_mempolicy_home_node", 450, 450, SECCOMP_REFUSE),
	RULE("vmsplice", 278, 75, SECCOMP_REFUSE),
	RULE("modify_ldt", 154, NONE, SECCOMP_REFUSE),
	/* Old calls that no program needs. */
	RULE("lookup_dcookie", 212, 18, SECCOMP_REFUSE),
	RULE("vhangup", 153, 58, SECCOMP_REFUSE),
	RULE("uselib", 134, NONE, SECCOMP_REFUSE),
	RULE("ustat", 136, NONE, SECCOMP_REFUSE),
	RULE("sysfs", 139, NONE, SECCOMP_REFUSE),
	RULE("_sysctl", 156, NONE, SECCOMP_REFUSE),
	RULE("nfsservctl", 180, 42, SECCOMP_REFUSE),
	/* Memory that no limit counts, and programs without a file. */
	RULE("memfd_create", 319, 279, SECCOMP_REFUSE),
	RULE("memfd_secret", 447, 447, SECCOMP_REFUSE),
	/*
	 * System V and POSIX queues: memory that no limit counts, and without an IPC namespace the
	 * user's own. The number of a segment is enough to attach it.
	 */
	RULE("shmget", 29, 194, SECCOMP_REFUSE),
	RULE("shmat", 30, 196, SECCOMP_REFUSE),
	RULE("shmctl", 31, 195, SECCOMP_REFUSE),
	RULE("msgget", 68, 186, SECCOMP_REFUSE),
	RULE("msgsnd", 69, 189, SECCOMP_REFUSE),
	RULE("msgrcv", 70, 188, SECCOMP_REFUSE),
	RULE("msgctl", 71, 187, SECCOMP_REFUSE),
	RULE("semget", 64, 190, SECCOMP_REFUSE),
	RULE("semop", 65, 193, SECCOMP_REFUSE),
	RULE("semtimedop", 220, 192, SECCOMP_REFUSE),
	RULE("semctl", 66, 191, SECCOMP_REFUSE),
	RULE("mq_open", 240, 180, SECCOMP_REFUSE),
	RULE("mq_unlink", 241, 181, SECCOMP_REFUSE),
	/* A set-user-id file in the workspace would be one on the host as well. */
	RULE("open", 2, NONE, SECCOMP_CREATE_MODE_2),
	RULE("openat", 257, 56, SECCOMP_CREATE_MODE_3),
	RULE("openat2", 437, 437, SECCOMP_ABSENT),
	RULE("creat", 85, NONE, SECCOMP_MODE_1),
	RULE("mkdir", 83, NONE, SECCOMP_MODE_1),
	RULE("mkdirat", 258, 34, SECCOMP_MODE_2),
	RULE("mknod", 133, NONE, SECCOMP_MODE_1),
	RULE("mknodat", 259, 33, SECCOMP_MODE_2),
	RULE("chmod", 90, NONE, SECCOMP_MODE_1),
	RULE("fchmod", 91, 52, SECCOMP_MODE_1),
	RULE("fchmodat", 268, 53, SECCOMP_MODE_2),
	RULE("fchmodat2", 452, 452, SECCOMP_MODE_2),
	RULE("ioctl", 16, 29, SECCOMP_NO_INJECTION),
	RULE("fcntl", 72, 25, SECCOMP_NO_LEASES),
	RULE("socket", 41, 198, SECCOMP_FAMILIES),
	RULE("socketpair", 53, 199, SECCOMP_PAIRS),
	RULE("personality", 135, 92, SECCOMP_PERSONALITY),
	/*
	 * Limits of init and supervisor, which have the session's user: a limit of CPU time kills.
	 */
	RULE("prlimit64", 302, 261, SECCOMP_SET_LIMIT),
	RULE("setrlimit", 160, 164, SECCOMP_OLD_SET_LIMIT),
	/* Scheduling of other processes. */
	RULE("sched_setaffinity", 203, 122, SECCOMP_OWN_PID),
	RULE("sched_setattr", 314, 274, SECCOMP_OWN_PID),
	RULE("sched_setparam", 142, 118, SECCOMP_OWN_PID),
	RULE("sched_setscheduler", 144, 119, SECCOMP_OWN_PID),
	RULE("setpriority", 141, 140, SECCOMP_OWN_PRIORITY),
	RULE("ioprio_set", 251, 30, SECCOMP_OWN_IO_PRIORITY),
};

const size_t seccomp_rule_count = ARRAY_SIZE(seccomp_rules);
