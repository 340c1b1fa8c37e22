/* SPDX-License-Identifier: MIT */
/* repository.h - what git accepts as a repository, and in which order to search for one. */
#ifndef SANDBOX_ROOTFS_REPOSITORY_H
#define SANDBOX_ROOTFS_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

/*
 * Returns whether the folder, which may be an O_PATH descriptor, contains HEAD and one of objects,
 * refs and commondir. The folder may have any name: git demands no more.
 */
bool repository_is(int dir);
/*
 * Returns whether git itself makes no repository below a repository's own folder of this name.
 * Session code can make one there. Session code can also put HEAD and refs beside a folder of such
 * a name that the user made.
 */
bool repository_holds_none(const char *name);
/*
 * Returns whether git writes to names in a repository's own folder of this name. For `hooks` it
 * returns false.
 */
bool repository_is_written(const char *name);
/* Returns whether the folder at a path is, or lies in, one of packages by its name. */
bool repository_in_packages(const char *path);
/* Returns whether git runs a program of this name in a hooks folder. */
bool repository_is_hook(const char *name);
/* Returns the i-th such name; NULL after the last. */
const char *repository_hook(size_t i);
/*
 * Returns the i-th name of a folder with remotes that no config names; NULL after the last. git
 * before 1.5 wrote them, and current versions still read them.
 */
const char *repository_remotes(size_t i);

/*
 * Folders that are still to be searched, nearest first. Folders of packages and the like come after
 * all others, because they are many and users do not work in them. A repository's own folders come
 * last.
 */
struct repository_queue {
	struct list first;
	struct list packages;
	struct list inner;
	/* These describe the folder that was taken last, and all below it. */
	bool in_packages;
	bool in_inner;
};

/* Makes an empty queue. It must be emptied by repository_queue_take before it goes out of scope. */
void repository_queue_init(struct repository_queue *queue);
/*
 * Adds the folder `name` of the folder that was taken last. Takes ownership of its path. `inner`
 * says that it is one of a repository's own folders; "objects" always counts as one.
 */
void repository_queue_add(struct repository_queue *queue, const char *name, bool inner,
			  char *path_own);
/* Returns the path of the next folder, or NULL when none is left. The caller frees the result. */
char *repository_queue_take(struct repository_queue *queue);

#endif
