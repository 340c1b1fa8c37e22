/* SPDX-License-Identifier: MIT */
/*
 * namespaces.h - the namespaces of a session: user, mount, pid, net, ipc, uts and cgroup, and a
 * second user namespace for its programs.
 *
 * Init and supervisors stay in the first user namespace with all capabilities of it; every
 * interpreter joins the second one, in which it owns nothing that confines it.
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
 * fork(), into new namespaces: 0 in the child, which dies with the caller. A foreign `map` is
 * written by then. The caller has one thread. ERR_SYSTEM when the kernel refuses. `without` are
 * bits of enum report_layer, for the tests: net, ipc and cgroup can be left out. `group` is the
 * folder of the child's control group, -1 for the caller's. `nursery` has
 * ZYGOTE_NAMESPACES_NAMESPACES descriptors, and the namespaces lie in it; or is NULL.
 */
pid_t namespaces_fork(const struct uid_map *map, int group, uint32_t without, const int *zygote_fds,
		      struct err *err) MUST_CHECK;
/*
 * Descriptors of the caller's own, in the order in which a process joins them; NAMESPACES_ALL of
 * them. On failure nothing is left open.
 */
int namespaces_open_own(int *ret_fds, struct err *err) MUST_CHECK;
/* Joins them; children of the caller, but not itself, are then in the pid namespace. */
int namespaces_join(const int *fds, struct err *err) MUST_CHECK;
/* Asks again for what a change of credentials takes away: the death signal; and `dumpable`. */
int namespaces_bind_life(bool dumpable, struct err *err) MUST_CHECK;

/* In the child, in this order; the tree of root.h is built between the two. */

/* Host name and, of a network of its own, loopback. */
int namespaces_start(uint32_t without, struct err *err) MUST_CHECK;
/*
 * Makes the second user namespace, an open descriptor of it, and forbids every further namespace,
 * unless there may be `more`.
 * Needs /proc writable and a dumpable process.
 */
int namespaces_make_inner(bool more, int *ret_user_ns, struct err *err) MUST_CHECK;
/* A listening socket on 127.0.0.1:POLICY_PROXY_PORT. */
int namespaces_listen(struct err *err) MUST_CHECK;

/* Moves the calling process into the second user namespace. */
int namespaces_join_inner(int user_ns, struct err *err) MUST_CHECK;

#endif
