/* SPDX-License-Identifier: MIT */
/*
 * cgroups.h - control groups for sessions, when the server has been delegated a group.
 *
 * A group counts as delegated (systemd's term) when the server may write to it and no other program
 * is in it. The server moves into a group below it, because the kernel enables limits only for
 * children of a group without processes. Each session's init is forked into a group of its own.
 * Names hold a random token of the server, by which a later server finds the groups that a killed
 * one has left:
 *
 *     OWN/ptycell-TOKEN      the server and its helpers
 *     OWN/ptycell-TOKEN-N    a session
 *
 * No function blocks but cgroups_free, for 100 ms at most.
 */
#ifndef PROC_CGROUPS_H
#define PROC_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/namespaces/cgroup.h"

struct cgroups;
struct cgroup_leaf;

/*
 * Takes over the control group that the calling process is in. Returns NULL and sets *err, and
 * changes nothing, when there is no delegated group or it has nothing to offer. The message is a
 * clause for the user, without a full stop.
 */
struct cgroups *cgroups_take(struct err *err) MUST_CHECK;
/* Restores the group as it was. Every leaf must have been freed before. May be NULL. */
void cgroups_free(struct cgroups *groups);

/* Returns the controllers that limit sessions, as bits 1U << enum cgroup_controller; may be 0. */
uint32_t cgroups_controllers(const struct cgroups *groups);
/* Returns whether the kernel can kill all processes of a group at once (cgroup.kill). */
bool cgroups_can_kill(const struct cgroups *groups);

struct cgroup_limits {
	uint64_t memory_max; /* bytes, including files in /tmp and /dev/shm */
	uint64_t tasks_max;  /* processes and threads */
};

/* Makes a group for one session. `groups` must outlive it. Returns NULL and sets *err. */
struct cgroup_leaf *cgroups_leaf_new(struct cgroups *groups, const struct cgroup_limits *limits,
				     struct err *err) MUST_CHECK;
/* Returns the group's folder, for sandbox/namespaces/cgroup.h. Owned by the leaf. */
int cgroups_leaf_folder(const struct cgroup_leaf *leaf);
uint64_t cgroups_leaf_memory_max(const struct cgroup_leaf *leaf);
/* Returns how many processes the kernel has killed because memory was at the limit. */
uint64_t cgroups_leaf_oom_kills(const struct cgroup_leaf *leaf);
/*
 * Kills all processes in the group. Returns whether it is empty and removed; must be called again
 * until it is.
 */
bool cgroups_leaf_end(struct cgroup_leaf *leaf);
/*
 * Frees the leaf. A group that could not be removed yet is removed by cgroups_free or a later
 * server. May be NULL.
 */
void cgroups_leaf_free(struct cgroup_leaf *leaf);

#endif
