/* SPDX-License-Identifier: MIT */
/*
 * bwrap.h - tier bwrap: the system's bubblewrap makes namespaces and mounts, and our init runs in
 * them as pid 1.
 *
 * For machines where only programs at known paths may make user namespaces (Ubuntu): so it is
 * /usr/bin/bwrap and no copy of it, and never a set-user-id one. What it makes is the tree of
 * root.h. The launcher's child becomes bwrap; that execs the launcher's own program again, which is
 * handed in by descriptor.
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
	/* The descriptors that it finds from BWRAP_FIRST_FD on; their count is its second argument.
	 */
	int *const *fds;
	size_t fd_count;
	const int *folders; /* those of a WIRE_SANDBOX; any of them may be among `fds` */
};

/* Is there one that may be used? ERR_UNSUPPORTED. Root needs none: it can do it itself. */
int bwrap_check(struct err *err) MUST_CHECK;
/*
 * Becomes bwrap, in a process just forked, with standard error where it was: bwrap complains there.
 * Returns only when that fails.
 */
int bwrap_exec(const struct bwrap_start *start, struct err *err) MUST_CHECK;
/* Inside: are these folders those at the policy's paths? ERR_DENIED when not. */
int bwrap_compare(const struct policy *policy, const int *folders, struct err *err) MUST_CHECK;

#endif
