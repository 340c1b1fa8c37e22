/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - control groups as the kernel's files tell of them, and a fork into one.
 *
 * Version 2 only (Documentation/admin-guide/cgroup-v2.rst), on a machine that has nothing else or
 * beside version 1. Who makes them and when: proc/cgroups.h.
 */
#ifndef SANDBOX_NAMESPACES_CGROUP_H
#define SANDBOX_NAMESPACES_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

/* Those that a session is held by. */
enum cgroup_controller { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_CONTROLLERS };

/* As in cgroup.controllers: "memory". */
const char *cgroup_controller_name(enum cgroup_controller controller);
/* What such a file says: 1U << enum cgroup_controller. Names that we do not know are none. */
uint32_t cgroup_parse_controllers(const char *text);
/* The path of version 2 in /proc/PID/cgroup, for the caller to free; NULL when it has none. */
char *cgroup_parse_own(const char *text);
/*
 * The folder in which /proc/PID/mountinfo shows the group `own`, for the caller to free; NULL when
 * no mount does. The first mount that can be seen through wins.
 */
char *cgroup_parse_mounts(const char *mountinfo, const char *own);
/* The number after `key` in memory.events and its like; 0 when there is no such line. */
uint64_t cgroup_parse_event(const char *text, const char *key);

/*
 * fork() with more flags of clone(2), into the group whose folder `group` is (-1: the caller's
 * own). The caller has one thread. -1 with errno.
 */
pid_t cgroup_fork(unsigned long flags, int group) MUST_CHECK;
/*
 * For cgroup_move, close-on-exec; -1 with errno. What may be moved is judged by who opened it, from
 * where (since Linux 5.16 and what took over CVE-2021-4197; before by who writes): so it can be
 * handed to who may not, and whom it shows nothing.
 */
int cgroup_open_members(int group) MUST_CHECK;
/*
 * Moves a process, 0 for the caller, by its number in the caller's namespace, with all its threads.
 * What memory it has been charged for stays where it is. -1 with errno.
 */
int cgroup_move(int members, pid_t pid) MUST_CHECK;

#endif
