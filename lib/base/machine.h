/* SPDX-License-Identifier: MIT */
/* machine.h - what this machine, or the container in which we are, has. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that our processes may have: the machine's, or what our control groups allow. */
uint64_t machine_memory(void);
/*
 * The least that a control group among those of `membership`, as /proc/self/cgroup has them, and
 * above them allows, where /sys/fs/cgroup is `root`; UINT64_MAX when none says.
 */
uint64_t machine_group_memory(const char *membership, const char *root);
/*
 * Processes and threads that our user (RLIMIT_NPROC) and our control groups allow beside those that
 * run; UINT64_MAX when they are many.
 */
uint64_t machine_tasks_left(void);
/* Of machine_group_memory, for processes and threads: what is there already is taken off. */
uint64_t machine_group_tasks_left(const char *membership, const char *root);
/* Descriptors that we have open, about. */
size_t machine_open_files(void);

#endif
