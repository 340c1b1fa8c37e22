/* SPDX-License-Identifier: MIT */
/* machine.h - the memory, processes and descriptors that this machine or container leaves us. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the bytes of memory that our processes may have: the machine's, or less if control groups
 * limit them.
 */
uint64_t machine_memory(void);
/*
 * Returns the smallest memory limit of the control groups in `membership` and of those above them.
 * `membership` has the form of /proc/self/cgroup; `root` stands for /sys/fs/cgroup. Returns
 * UINT64_MAX if none limits it.
 */
uint64_t machine_group_memory(const char *membership, const char *root);
/*
 * Returns how many more processes and threads our user (RLIMIT_NPROC) and our control groups allow.
 * Returns UINT64_MAX if they are many.
 */
uint64_t machine_tasks_left(void);
/*
 * Returns how many more processes and threads the control groups allow; the arguments are those of
 * machine_group_memory. Returns UINT64_MAX if none limits them.
 */
uint64_t machine_group_tasks_left(const char *membership, const char *root);
/* Returns about how many descriptors we have open. */
size_t machine_open_files(void);

#endif
