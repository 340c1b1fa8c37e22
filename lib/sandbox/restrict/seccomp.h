/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - the filter of system calls, compiled to BPF from a table.
 *
 * All calls are allowed except those in seccomp_rules. A refused call fails with an errno and never
 * kills. A killed interpreter looks like a crash, and programs try calls that they can do without
 * (libuv tries io_uring at its start). Only a call of another architecture kills, because its
 * number means another call. Numbers above SECCOMP_HIGHEST, x32's among them, fail with ENOSYS,
 * since newer calls have not been reviewed.
 */
#ifndef SANDBOX_RESTRICT_SECCOMP_H
#define SANDBOX_RESTRICT_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "lockdown/bpf.h"

enum {
	SECCOMP_HIGHEST = 469, /* file_setattr; new calls have one number on all architectures */
	SECCOMP_NONE = -1,     /* the architecture lacks the call */
};

enum seccomp_arch { SECCOMP_X86_64, SECCOMP_AARCH64, SECCOMP_ARCHES };

/* The action for a call. Arguments are compared in their low 32 bits, as the kernel reads them. */
enum seccomp_verdict {
	SECCOMP_ALLOW,
	SECCOMP_REFUSE,        /* EPERM */
	SECCOMP_ABSENT,        /* ENOSYS: the caller falls back on a call that can be inspected */
	SECCOMP_NO_NAMESPACES, /* namespace flags of clone */
	/*
	 * No ioctl requests that inject terminal input, or load code. Where host files are visible,
	 * only those of terminals and sockets, and few of files.
	 */
	SECCOMP_NO_INJECTION,
	SECCOMP_NO_LEASES, /* fcntl requests that delay, or observe, other processes' use of a file
			    */
	SECCOMP_FAMILIES,  /* families of socket */
	SECCOMP_WATCHED,   /* inotify_add_watch without events for reading by others */
	/* For tiers where host files are visible, whose owner may be the session's user: */
	SECCOMP_NO_WATCHES,    /* ENOSYS: tail and others then poll instead */
	SECCOMP_NO_ATTRIBUTES, /* EOPNOTSUPP, as on a file system without attributes */
	SECCOMP_PAIRS,         /* family and type of socketpair */
	/* No set-user-id and set-group-id bits, in the argument with this number. */
	SECCOMP_MODE_1,
	SECCOMP_MODE_2,
	/* The same, only when the flags before the mode create a file. */
	SECCOMP_CREATE_MODE_2,
	SECCOMP_CREATE_MODE_3,
	SECCOMP_PERSONALITY,
	/* For tiers where host pids are visible: only the caller itself. */
	SECCOMP_OWN_PID,
	SECCOMP_OWN_PRIORITY,    /* setpriority */
	SECCOMP_OWN_IO_PRIORITY, /* ioprio_set */
	/* A process may set only its own limits, because a limit of processor time kills. */
	SECCOMP_SET_LIMIT,     /* prlimit64 */
	SECCOMP_OLD_SET_LIMIT, /* setrlimit */
	SECCOMP_VERDICTS
};

struct seccomp_rule {
	const char *name;
	int16_t numbers[SECCOMP_ARCHES];
	enum seccomp_verdict verdict;
};

extern const struct seccomp_rule seccomp_rules[];
extern const size_t seccomp_rule_count;

struct seccomp_options {
	bool unix_sockets;
	bool inet_sockets; /* includes netlink, by which programs list interfaces */
	bool host_pids;    /* no pid namespace: processes of the host can be named */
	bool host_files;   /* no root of its own: files of the host can be named */
	bool own_inodes;   /* policy.own_inodes */
};

/* Returns the architecture that this code is compiled for; SECCOMP_ARCHES for any other. */
enum seccomp_arch seccomp_native(void);
/*
 * Compiles the filter. Returns -1 and sets *err (ERR_INTERNAL) when the table is too large or names
 * a number twice.
 */
int seccomp_build(struct bpf *ret_program, enum seccomp_arch arch,
		  const struct seccomp_options *options, struct err *err) MUST_CHECK;
/*
 * Loads the filter, permanently, for the calling thread and its children. Requires no_new_privs.
 * Returns -1 and sets *err.
 */
int seccomp_enter(const struct seccomp_options *options, struct err *err) MUST_CHECK;

#endif
