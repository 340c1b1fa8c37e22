/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - the filter of system calls, as a table of data made into BPF.
 *
 * Everything is allowed but what seccomp_rules names. Refused calls fail with an errno and never
 * kill: a killed interpreter looks like a crash, and programs try calls that they can do without
 * (libuv asks for io_uring at its start). Only a call of a foreign architecture kills, because
 * its number means something else. Numbers above SECCOMP_HIGHEST, x32's among them, do not exist:
 * who wrote the table did not know them.
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

/* What happens to a call; arguments are compared in their low 32 bits, as the kernel reads them. */
enum seccomp_verdict {
	SECCOMP_ALLOW,
	SECCOMP_REFUSE,        /* EPERM */
	SECCOMP_ABSENT,        /* ENOSYS: the caller falls back on a call that can be inspected */
	SECCOMP_NO_NAMESPACES, /* flags of clone */
	SECCOMP_NO_INJECTION,  /* requests of ioctl that put text into terminals, or load code */
	SECCOMP_NO_LEASES,     /* requests of fcntl that hold up, or watch, others' use of a file */
	SECCOMP_FAMILIES,      /* of socket */
	SECCOMP_WATCHED,       /* events of inotify_add_watch: not others' reading */
	/* With the host's files in sight, whose owner may be the session's user: */
	SECCOMP_NO_WATCHES,    /* ENOSYS: tail and others then look again and again instead */
	SECCOMP_NO_ATTRIBUTES, /* EOPNOTSUPP, as of a file system that has none */
	SECCOMP_PAIRS,         /* family and type of socketpair */
	/* No set-user-id and set-group-id bits: where the mode is. */
	SECCOMP_MODE_1,
	SECCOMP_MODE_2,
	/* The same, where the flags before the mode say that a file is made. */
	SECCOMP_CREATE_MODE_2,
	SECCOMP_CREATE_MODE_3,
	SECCOMP_PERSONALITY,
	/* With foreign pids in sight: the caller only. */
	SECCOMP_OWN_PID,
	SECCOMP_OWN_PRIORITY,    /* setpriority */
	SECCOMP_OWN_IO_PRIORITY, /* ioprio_set */
	/* Limits are set by the caller for itself only: a limit of processor time kills. */
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
	bool inet_sockets; /* netlink too: it is how programs ask about interfaces */
	bool host_pids;    /* no pid namespace: processes of others can be named */
	bool host_files;   /* no root of its own: files of others can be named */
	bool own_inodes;   /* policy.own_inodes */
};

/* The architecture that this code is compiled for; SECCOMP_ARCHES for any other. */
enum seccomp_arch seccomp_native(void);
/* ERR_INTERNAL when the table does not fit, or names a number twice. */
int seccomp_build(struct bpf *ret_program, enum seccomp_arch arch,
		  const struct seccomp_options *options, struct err *err) MUST_CHECK;
/* For the calling thread and all its children, for good. Needs no_new_privs. */
int seccomp_enter(const struct seccomp_options *options, struct err *err) MUST_CHECK;

#endif
