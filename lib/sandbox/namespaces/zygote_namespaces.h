/* SPDX-License-Identifier: MIT */
/*
 * nursery.h - the user and pid namespace around sessions whose interpreters are forked.
 *
 * A process may join a user namespace that its own user made in the namespace it is in, and a pid
 * namespace below its own; and landlock and seccomp cannot be put off. So the parent of such
 * interpreters (sandbox/supervise/zygote.h) lives, without any capability, in a sandbox of its own,
 * the nursery; and the namespaces of sessions are made inside the user namespace in which it is, by
 * its user. That is the nursery's second one, for the kernel gives what may not be looked into to
 * the user 0 of the namespace of its exec: nobody there, where a session's user is the person, too.
 * A server that is root has users enough, and no second one. The nursery's init is the first
 * process of a pid namespace: when it ends, so do they all.
 *
 * A server that is root maps in: the nursery's own user, who is nobody else's, as 0; itself as
 * UID_MAP_ZYGOTE_ROOT, by whom sources of mounts are opened; and all that sessions may be.
 */
#ifndef SANDBOX_NAMESPACES_ZYGOTE_NAMESPACES_H
#define SANDBOX_NAMESPACES_ZYGOTE_NAMESPACES_H

#include <sys/types.h>

#include "base/err.h"
#include "sandbox/namespaces/uid_map.h"

/* ZYGOTE_NAMESPACES_INNER is the second user namespace; in that of a root server's,
 * ZYGOTE_NAMESPACES_USER again. */
enum {
	ZYGOTE_NAMESPACES_USER,
	ZYGOTE_NAMESPACES_PID,
	ZYGOTE_NAMESPACES_INNER,
	ZYGOTE_NAMESPACES_NAMESPACES
};

/*
 * Descriptors of the caller's own, which is the nursery's init; `inner` is borrowed, -1 for none.
 * On failure nothing is left open.
 */
int zygote_namespaces_open(int inner, int ret_fds[ZYGOTE_NAMESPACES_NAMESPACES],
			   struct err *err) MUST_CHECK;
/*
 * clone() of the caller, which has one thread, with `flags` for more namespaces, inside the
 * nursery: 0 in the child, which is the caller's as any other. A foreign `map` is written by then.
 * `group` is as that of cgroup_fork.
 */
pid_t zygote_namespaces_clone(const int fds[ZYGOTE_NAMESPACES_NAMESPACES], unsigned long flags,
			      const struct uid_map *map, int group, struct err *err) MUST_CHECK;

#endif
