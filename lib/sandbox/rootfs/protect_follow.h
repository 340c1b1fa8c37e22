/* SPDX-License-Identifier: MIT */
/* protect_follow.h - where a path of a share leads, and which links decide it. */
#ifndef SANDBOX_ROOTFS_PROTECT_FOLLOW_H
#define SANDBOX_ROOTFS_PROTECT_FOLLOW_H

/*
 * Resolves an absolute path as the kernel does. Calls `fn` with the path, without links, of each
 * link on the way that is below `top`. Returns where the path leads; the caller frees the result.
 * Returns NULL if it leads nowhere, or outside `top`.
 */
char *protect_follow(const char *top, const char *path, void (*fn)(void *data, const char *path),
		     void *data);

#endif
