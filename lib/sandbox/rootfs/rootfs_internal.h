/* SPDX-License-Identifier: MIT */
/* rootfs_internal.h - functions that rootfs.c, rootfs_etc.c and rootfs_own.c share. */
#ifndef SANDBOX_ROOTFS_ROOTFS_INTERNAL_H
#define SANDBOX_ROOTFS_ROOTFS_INTERNAL_H

#include "base/err.h"
#include "sandbox/rootfs/rootfs.h"

/* The host's tree while the session's is built. */
#define ROOT_OLD "/old"

/* Makes the folder and those above it; existing ones stay as they are. Returns -1 and sets *err. */
int rootfs_make_folder(const char *path, struct err *err) MUST_CHECK;
/*
 * Shows `path` of the host at the same path, read-only: a symbolic link as the same link, a file or
 * folder by a mount. Does nothing when the host has none. Returns -1 and sets *err.
 */
int rootfs_show(const char *path, struct err *err) MUST_CHECK;
/*
 * Puts overlays over the host folders and runtimes that will be shown, so that their inodes are the
 * session's own. Returns -1 and sets *err; some have overlays then.
 */
int rootfs_overlay_host(const struct policy *policy, struct rootfs_sources *sources,
			struct err *err) MUST_CHECK;
/* Makes everything in /etc. `etc` is the host's (hosttree_each_etc). Returns -1 and sets *err. */
int rootfs_make_etc(int etc, struct err *err) MUST_CHECK;

#endif
