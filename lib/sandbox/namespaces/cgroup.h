/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - parses the kernel's files about control groups, and forks into a group.
 *
 * Only version 2 (Documentation/admin-guide/cgroup-v2.rst) is used; version 1 may exist beside it.
 * proc/cgroups.h decides when groups are made.
 */
#ifndef SANDBOX_NAMESPACES_CGROUP_H
#define SANDBOX_NAMESPACES_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

/* The controllers that limit sessions. */
enum cgroup_controller { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_CONTROLLERS };

/* Returns the name in cgroup.controllers, such as "memory". */
const char *cgroup_controller_name(enum cgroup_controller controller);
/*
 * Returns the controllers that such a file names, as bits 1U << enum cgroup_controller. Unknown
 * names are ignored.
 */
uint32_t cgroup_parse_controllers(const char *text);
/* Returns the path of version 2 in /proc/PID/cgroup, or NULL. The caller frees the result. */
char *cgroup_parse_own(const char *text);
/*
 * Returns the folder where /proc/PID/mountinfo shows the group `own`, or NULL. The first mount that
 * shows it is taken. The caller frees the result.
 */
char *cgroup_parse_mounts(const char *mountinfo, const char *own);
/* Returns the number after `key` in memory.events and the like; 0 when there is no such line. */
uint64_t cgroup_parse_event(const char *text, const char *key);

/*
 * Forks with additional flags of clone(2), into the group with the folder `group` (-1: the caller's
 * own). The caller must have one thread. Returns -1 with errno.
 */
pid_t cgroup_fork(unsigned long flags, int group) MUST_CHECK;
/*
 * Opens a group's file for cgroup_move, close-on-exec. Returns -1 with errno. Since Linux 5.16
 * (CVE-2021-4197) the kernel checks the rights of the process that opened the file, before that of
 * the one that writes. So the descriptor can be passed to a process that has no rights itself.
 */
int cgroup_open_members(int group) MUST_CHECK;
/*
 * Moves a process with all its threads; `pid` is its number in the caller's namespace, 0 the
 * caller. Memory that it was charged for stays charged to the old group. Returns -1 with errno.
 */
int cgroup_move(int members, pid_t pid) MUST_CHECK;

#endif
