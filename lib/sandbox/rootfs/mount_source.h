/* SPDX-License-Identifier: MIT */
/* source.h - host folders found again by name in a new mount namespace, and bound by descriptor. */
#ifndef SANDBOX_ROOTFS_MOUNT_SOURCE_H
#define SANDBOX_ROOTFS_MOUNT_SOURCE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * An O_PATH descriptor of the plain absolute path (sandbox/wire/plan.h), the caller's. With
 * `expected` >= 0 no component may be a symbolic link and the two must be the same file: a
 * descriptor from another mount namespace cannot be bound itself. ERR_DENIED when they differ.
 */
int mount_source_open(const char *path, int expected, struct err *err) MUST_CHECK;
/* The same below `root`, which absolute links do not leave; nothing is expected, no link allowed.
 */
int mount_source_open_below(int root, const char *path, struct err *err) MUST_CHECK;
/* Likewise, but what it names may itself be a link, which is opened then. */
int mount_source_open_name_below(int root, const char *path, struct err *err) MUST_CHECK;

struct mount_source_bind {
	bool writable;
	bool devices; /* device nodes on it work */
	bool execute;
};

/*
 * Puts the tree at `source` (an O_PATH descriptor of this mount namespace) on `target`, a path,
 * which `target_fd` was opened at when it is >= 0. Never with set-user-id bits. What is mounted
 * below `source` comes along.
 */
int mount_source_bind(int source, const char *target, int target_fd,
		      const struct mount_source_bind *how, struct err *err) MUST_CHECK;
/*
 * Puts a link, an O_PATH descriptor of this mount namespace, on itself: it can be neither removed
 * nor replaced. Kernels before 5.12 cannot: nothing is done.
 */
int mount_source_pin_link(int link, struct err *err) MUST_CHECK;
/*
 * The tree at `source` as a mount that is nowhere yet, the caller's, with the owners of `user_ns`:
 * who is N inside of it is N on the disk. ERR_SYSTEM when the kernel or the file system cannot.
 */
int mount_source_shift(int source, bool writable, int user_ns, struct err *err) MUST_CHECK;
/*
 * The folder at `source` as an overlay that is nowhere yet, the caller's: the same files,
 * read-only, with inodes of its own, so that no watch and no lock there meets another's. `empty` is
 * a folder that stays empty. What changes below while it is mounted may be seen late. ERR_SYSTEM
 * when the kernel cannot, or something is mounted below `source`.
 */
int mount_source_overlay(int source, int empty, struct err *err) MUST_CHECK;
/* Puts such a mount on `target`, which `target_fd` was opened at when it is >= 0. */
int mount_source_place(int tree, const char *target, int target_fd, struct err *err) MUST_CHECK;
/* Makes the mount at `path` read-only, and keeps its other flags. */
int mount_source_seal(const char *path, struct err *err) MUST_CHECK;

#endif
