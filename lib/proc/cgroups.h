/* SPDX-License-Identifier: MIT */
/*
 * cgroups.h - control groups for sessions, where the server has been given a group to divide.
 *
 * What systemd calls delegation: the server's own group is writable for it, and nobody else is in
 * it. The server moves into a group below it, because the kernel divides memory only among groups
 * without processes beside them, and each session is born in one of its own. Names hold a token of
 * the server, so that the next one finds what a killed one has left:
 *
 *     OWN/ptycell-TOKEN      the server and its helpers
 *     OWN/ptycell-TOKEN-N    a session
 *
 * Nothing here waits but cgroups_free, 100 ms at most.
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
 * Takes over the group that the calling process is in, and tries whether it holds. NULL with why
 * not, a sentence without end for people, when there is none to be had; nothing is changed then.
 */
struct cgroups *cgroups_take(struct err *err) MUST_CHECK;
/* Gives it back as it was. Every leaf is freed before. NULL is allowed. */
void cgroups_free(struct cgroups *groups);

/* Those that sessions are held by: 1U << enum cgroup_controller; 0 is possible. */
uint32_t cgroups_controllers(const struct cgroups *groups);
/* Groups are ended by the kernel, all at once (cgroup.kill). */
bool cgroups_can_kill(const struct cgroups *groups);

struct cgroup_limits {
	uint64_t memory_max; /* bytes; the kernel counts files in /tmp as well */
	uint64_t tasks_max;  /* processes and threads */
};

/* A group for one session; `groups` outlives it. */
struct cgroup_leaf *cgroups_leaf_new(struct cgroups *groups, const struct cgroup_limits *limits,
				     struct err *err) MUST_CHECK;
/* For sandbox/namespaces/cgroup.h. Owned by the leaf. */
int cgroups_leaf_folder(const struct cgroup_leaf *leaf);
uint64_t cgroups_leaf_memory_max(const struct cgroup_leaf *leaf);
/* How many processes the kernel has killed because its memory was at the limit. */
uint64_t cgroups_leaf_oom_kills(const struct cgroup_leaf *leaf);
/* Kills what is in it; true once it is empty and removed. To be called again until then. */
bool cgroups_leaf_end(struct cgroup_leaf *leaf);
/* What is not removed yet is so by cgroups_free, or the next server. NULL is allowed. */
void cgroups_leaf_free(struct cgroup_leaf *leaf);

#endif
