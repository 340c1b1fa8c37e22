/* SPDX-License-Identifier: MIT */
/* repository.h - what git takes for a repository, and in which order to look for one. */
#ifndef SANDBOX_ROOTFS_REPOSITORY_H
#define SANDBOX_ROOTFS_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

/*
 * HEAD and one of objects, refs and commondir are in the folder, which may be an O_PATH descriptor:
 * all that git demands, whatever the folder is called.
 */
bool repository_is(int dir);
/*
 * Of its own folders: git makes no repository in it. Others may, where code made HEAD and refs
 * beside a folder of that name.
 */
bool repository_holds_none(const char *name);
/* Git runs a program of this name in a folder of hooks. */
bool repository_is_hook(const char *name);
/* The i-th such name, NULL behind the last. */
const char *repository_hook(size_t i);
/*
 * Likewise: its folders of remotes that are in no config, as versions before 1.5 wrote them. Those
 * of today still read them.
 */
const char *repository_remotes(size_t i);

/*
 * Folders that are still to be looked into, nearest first; those of packages and the like, which
 * are many, made by others, and in which nobody works, behind all others; a repository's own
 * behind these.
 */
struct repository_queue {
	struct list first;
	struct list packages;
	struct list inner;
	/* Of the one that was taken, and all below it. */
	bool in_packages;
	bool in_inner;
};

void repository_queue_init(struct repository_queue *queue);
/*
 * `name`, in the folder that was taken last: its path, which the queue takes. `inner`: it is one of
 * a repository's own folders; "objects" is taken for one anywhere.
 */
void repository_queue_add(struct repository_queue *queue, const char *name, bool inner,
			  char *path_own);
/* The path of the next one, which the caller frees; NULL: none is left. */
char *repository_queue_take(struct repository_queue *queue);

#endif
