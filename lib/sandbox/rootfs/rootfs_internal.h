/* SPDX-License-Identifier: MIT */
/* root_internal.h - what root.c and rootfs_etc.c share. */
#ifndef SANDBOX_ROOTFS_ROOTFS_INTERNAL_H
#define SANDBOX_ROOTFS_ROOTFS_INTERNAL_H

#include "base/err.h"
#include "sandbox/rootfs/rootfs.h"

/* Where the host's tree is while ours is made. */
#define ROOT_OLD "/old"

/* The same as mkdir -p; what is there already is left as it is. */
int rootfs_make_folder(const char *path, struct err *err) MUST_CHECK;
/*
 * Shows `path` of the host at the same path, read-only: a symbolic link as it is, a file or folder
 * by a mount. 0 too when the host has none.
 */
int rootfs_show(const char *path, struct err *err) MUST_CHECK;
/*
 * Gives what will be shown of the host's system, and the runtimes, inodes of the session's own. On
 * failure some have them.
 */
int rootfs_cover(const struct policy *policy, struct rootfs_sources *sources,
		 struct err *err) MUST_CHECK;
/* Everything in /etc. */
int rootfs_make_etc(struct err *err) MUST_CHECK;

#endif
