/* SPDX-License-Identifier: MIT */
/*
 * bwrap.h - tier bwrap: the system's bubblewrap makes namespaces and mounts, and init runs in them
 * as pid 1.
 *
 * This tier is for machines where only programs at known paths may make user namespaces (AppArmor
 * on Ubuntu). So the program is /usr/bin/bwrap itself, never a copy and never a set-user-id one.
 * The file tree is that of rootfs/rootfs.h. The launcher's child becomes bwrap, and bwrap execs the
 * launcher's program, which is passed by descriptor.
 */
#ifndef SANDBOX_SUPERVISE_BWRAP_H
#define SANDBOX_SUPERVISE_BWRAP_H

#include <stddef.h>

#include "base/err.h"
#include "sandbox/policy.h"

#define BWRAP_PROGRAM "/usr/bin/bwrap"

enum { BWRAP_FIRST_FD = 3 };

struct bwrap_start {
	const char *role; /* the first argument of the launcher's program inside */
	const struct policy *policy;
	/*
	 * The descriptors that it finds from BWRAP_FIRST_FD on; their count is its second argument.
	 */
	int *const *fds;
	size_t fd_count;
	const int *folders; /* the folders of a WIRE_SANDBOX; some may be in `fds` too */
};

/*
 * Checks that /usr/bin/bwrap exists and may be used. Returns -1 and sets *err (ERR_UNSUPPORTED).
 * Refuses for root, to whom bwrap gives nothing more.
 */
int bwrap_check(struct err *err) MUST_CHECK;
/*
 * Becomes bwrap. The caller must have been forked for it, with a standard error for bwrap's
 * messages. Returns -1 and sets *err, on failure only.
 */
int bwrap_exec(const struct bwrap_start *start, struct err *err) MUST_CHECK;
/*
 * Compares, inside the sandbox, the folders with those at the policy's paths. Returns -1 and sets
 * *err (ERR_DENIED) when they differ.
 */
int bwrap_compare(const struct policy *policy, const int *folders, struct err *err) MUST_CHECK;

#endif
