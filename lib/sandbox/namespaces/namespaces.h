/* SPDX-License-Identifier: MIT */
/*
 * namespaces.h - the namespaces of a session: user, mount, pid, net, ipc, uts, cgroup, and a second
 * user namespace for its programs.
 *
 * Init and supervisors stay in the first user namespace and have all capabilities in it. Every
 * interpreter joins the second one, which owns none of the other namespaces, so its capabilities
 * there change nothing that confines it.
 */
#ifndef SANDBOX_NAMESPACES_NAMESPACES_H
#define SANDBOX_NAMESPACES_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/namespaces/uid_map.h"

enum { NAMESPACES_ALL = 7 };

/*
 * Forks into new namespaces. Returns 0 in the child, which dies with the caller and whose map is
 * written when it belongs to another user. `without` are bits of enum report_layer that tests leave
 * out (net, ipc, cgroup). `group` is the folder of the child's control group; -1: the caller's.
 * `zygote_fds` are the descriptors of a zygote sandbox, inside which the namespaces are made; may
 * be NULL. The caller must have one thread. Returns -1 and sets *err (ERR_SYSTEM).
 */
pid_t namespaces_fork(const struct uid_map *map, int group, uint32_t without, const int *zygote_fds,
		      struct err *err) MUST_CHECK;
/*
 * Opens the caller's own NAMESPACES_ALL namespaces, in the order in which they must be joined. The
 * caller closes them. On failure nothing is left open.
 */
int namespaces_open_own(int *ret_fds, struct err *err) MUST_CHECK;
/*
 * Joins these namespaces. Only children of the caller are then in the pid namespace. Returns -1 and
 * sets *err.
 */
int namespaces_join(const int *fds, struct err *err) MUST_CHECK;
/*
 * Requests the parent-death signal again, which a change of credentials clears, and sets
 * `dumpable`. Returns -1 and sets *err.
 */
int namespaces_bind_life(bool dumpable, struct err *err) MUST_CHECK;

/*
 * Called in the child, in this order; rootfs/rootfs.h builds the file tree between the first two.
 */

/* Sets the host name, and in a network of its own starts loopback. Returns -1 and sets *err. */
int namespaces_start(uint32_t without, struct err *err) MUST_CHECK;
/*
 * Makes the second user namespace and returns a descriptor of it, which the caller closes. Forbids
 * every further namespace unless `more` is set. /proc must be writable and the process dumpable.
 * Returns -1 and sets *err.
 */
int namespaces_make_inner(bool more, int *ret_user_ns, struct err *err) MUST_CHECK;
/*
 * Returns a socket that listens on 127.0.0.1:POLICY_PROXY_PORT. The caller closes it. Returns -1
 * and sets *err.
 */
int namespaces_listen(struct err *err) MUST_CHECK;

/* Moves the calling process into the second user namespace. Returns -1 and sets *err. */
int namespaces_join_inner(int user_ns, struct err *err) MUST_CHECK;

#endif
