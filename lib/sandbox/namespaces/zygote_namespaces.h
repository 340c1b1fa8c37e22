/* SPDX-License-Identifier: MIT */
/*
 * zygote_namespaces.h - the user and pid namespace around sessions whose interpreters are forked
 * from a zygote.
 *
 * A process may join a user namespace only if its own user made that inside its own user namespace,
 * and a pid namespace only below its own. It cannot undo landlock and seccomp. So the zygote
 * (sandbox/supervise/zygote.h) lives without capabilities in a sandbox of its own. The namespaces
 * of sessions are made by its user inside the user namespace that it is in.
 *
 * That is the second user namespace of the zygote sandbox. The kernel gives the files in /proc of a
 * process that is not dumpable to user 0 of the user namespace in which its program was executed.
 * The second namespace has no user 0. In the first one user 0 is the server's user, as whom session
 * code runs. A server that is root gives each session a user of its own and makes no second one.
 * The zygote sandbox's init is the first process of the pid namespace: when it ends, all these
 * sessions end.
 *
 * A server that is root maps three kinds of users in. The zygote's own user, who has no other
 * processes, is 0. The server's root is UID_MAP_ZYGOTE_ROOT, who opens the sources of mounts. All
 * users that sessions may have are mapped to themselves.
 */
#ifndef SANDBOX_NAMESPACES_ZYGOTE_NAMESPACES_H
#define SANDBOX_NAMESPACES_ZYGOTE_NAMESPACES_H

#include <sys/types.h>

#include "base/err.h"
#include "sandbox/namespaces/uid_map.h"

/*
 * ZYGOTE_NAMESPACES_INNER is the second user namespace. For a server that is root it is
 * ZYGOTE_NAMESPACES_USER again.
 */
enum {
	ZYGOTE_NAMESPACES_USER,
	ZYGOTE_NAMESPACES_PID,
	ZYGOTE_NAMESPACES_INNER,
	ZYGOTE_NAMESPACES_NAMESPACES
};

/*
 * Opens the caller's own namespaces; the caller is the zygote sandbox's init. `inner` is borrowed,
 * -1 for none. The caller closes the descriptors. On failure nothing is left open.
 */
int zygote_namespaces_open(int inner, int ret_fds[ZYGOTE_NAMESPACES_NAMESPACES],
			   struct err *err) MUST_CHECK;
/*
 * Clones the caller into further namespaces (`flags`) inside the zygote sandbox. Returns 0 in the
 * child, which is the caller's child and whose map is written when it belongs to another user.
 * `group` is as for cgroup_fork. The caller must have one thread. Returns -1 and sets *err.
 */
pid_t zygote_namespaces_clone(const int fds[ZYGOTE_NAMESPACES_NAMESPACES], unsigned long flags,
			      const struct uid_map *map, int group, struct err *err) MUST_CHECK;

#endif
