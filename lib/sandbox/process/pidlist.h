/* SPDX-License-Identifier: MIT */
/* pidlist.h - a list of process ids. A zeroed struct is an empty list. */
#ifndef SANDBOX_PROCESS_PIDLIST_H
#define SANDBOX_PROCESS_PIDLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PIDLIST_MAX = 65536 };

struct pidlist {
	pid_t *pids;
	size_t len;
	size_t cap;
};

void pidlist_release(struct pidlist *list);
#define cleanup_pidlist __attribute__((cleanup(pidlist_release)))
bool pidlist_has(const struct pidlist *list, pid_t pid);
/* Adds `pid`. Does nothing at PIDLIST_MAX. */
void pidlist_add(struct pidlist *list, pid_t pid);
void pidlist_remove(struct pidlist *list, pid_t pid);

#endif
