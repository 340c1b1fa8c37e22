/* SPDX-License-Identifier: MIT */
/*
 * pidlist.c - a growing array of process ids. Session code decides how many processes there are, so
 * adding stops at PIDLIST_MAX.
 */
#include "sandbox/process/pidlist.h"

#include <stdlib.h>

#include "base/mem.h"

void pidlist_release(struct pidlist *list)
{
	free(list->pids);
	*list = (struct pidlist){ 0 };
}

bool pidlist_has(const struct pidlist *list, pid_t pid)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

void pidlist_add(struct pidlist *list, pid_t pid)
{
	if (list->len == PIDLIST_MAX)
		return;
	if (list->len == list->cap) {
		list->cap = list->cap > 0 ? list->cap * 2 : 16;
		list->pids = xrealloc(list->pids, list->cap * sizeof(pid_t));
	}
	list->pids[list->len++] = pid;
}

void pidlist_remove(struct pidlist *list, pid_t pid)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->pids[i] == pid) {
			list->pids[i] = list->pids[--list->len];
			return;
		}
}
