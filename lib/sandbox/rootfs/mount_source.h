/* SPDX-License-Identifier: MIT */
/*
 * mount_source.h - opens host folders again by name in a new mount namespace, and binds them by
 * descriptor.
 */
#ifndef SANDBOX_ROOTFS_MOUNT_SOURCE_H
#define SANDBOX_ROOTFS_MOUNT_SOURCE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Returns an O_PATH descriptor of the plain absolute path (sandbox/wire/plan.h), which the caller
 * closes. If `expected` >= 0, the path may contain no symbolic link and must lead to the same file:
 * a descriptor of another mount namespace cannot be bound itself. Returns -1 and sets *err:
 * ERR_DENIED when they differ.
 */
int mount_source_open(const char *path, int expected, struct err *err) MUST_CHECK;
/*
 * Opens the path below `root`, without any link. Returns a descriptor that the caller closes, or -1
 * and sets *err.
 */
int mount_source_open_below(int root, const char *path, struct err *err) MUST_CHECK;
/*
 * Opens the path below `root`, where the last name may be a link, which itself is opened. Returns a
 * descriptor that the caller closes, or -1 and sets *err.
 */
int mount_source_open_name_below(int root, const char *path, struct err *err) MUST_CHECK;

struct mount_source_bind {
	bool writable;
	bool devices; /* device nodes work on it */
	bool execute;
};

/*
 * Mounts the tree at `source`, an O_PATH descriptor of this mount namespace, on the path `target`.
 * `target_fd`, if >= 0, is open there and used instead. Mounts below `source` are included, except
 * before Linux 5.12. Set-user-id bits never work there. Returns -1 and sets *err.
 */
int mount_source_bind(int source, const char *target, int target_fd,
		      const struct mount_source_bind *how, struct err *err) MUST_CHECK;
/*
 * Mounts a link, given by an O_PATH descriptor of this mount namespace, on itself, so that it can
 * be neither removed nor replaced. Does nothing before Linux 5.12. Returns -1 and sets *err.
 */
int mount_source_pin_link(int link, struct err *err) MUST_CHECK;
/*
 * Returns a detached idmapped mount of the tree at `source`, which the caller closes: a user N
 * inside `user_ns` is N on the disk. Returns -1 and sets *err (ERR_SYSTEM) when the kernel or the
 * file system cannot.
 */
int mount_source_idmap(int source, bool writable, int user_ns, struct err *err) MUST_CHECK;
/*
 * Returns a detached read-only overlay of the folder at `source`, which the caller closes. Its
 * inodes are its own, so watches and locks there are not shared with the host. `empty` must be a
 * folder that stays empty. Changes below it may become visible late. Returns -1 and sets *err
 * (ERR_SYSTEM) when the kernel cannot, or when something is mounted below `source`.
 */
int mount_source_overlay(int source, int empty, struct err *err) MUST_CHECK;
/*
 * Attaches a detached mount to `target`. `target_fd`, if >= 0, is open there and used instead.
 * Returns -1 and sets *err.
 */
int mount_source_place(int tree, const char *target, int target_fd, struct err *err) MUST_CHECK;
/* Makes the mount at `path` read-only, and keeps its other flags. Returns -1 and sets *err. */
int mount_source_seal(const char *path, struct err *err) MUST_CHECK;

#endif
