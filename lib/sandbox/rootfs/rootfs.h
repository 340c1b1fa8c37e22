/* SPDX-License-Identifier: MIT */
/*
 * rootfs.h - the file tree of a session: what of the host is visible in it, and where.
 *
 * The root is a tmpfs. Everything is mounted without set-user-id bits and devices unless stated.
 *
 * - /usr; /bin, /sbin and /lib* as the host has them: the host's, read-only; overlays where
 * possible (rootfs_own.c), as are /etc and runtimes
 * - /etc: a list of the host's, read-only (rootfs_etc.c); passwd, group, hosts and hostname are
 * made
 * - /tmp: a tmpfs with the policy's limits
 * - /dev/shm: a tmpfs as large as the memory that is left
 * - /proc: fresh, read-only
 * - /dev: some of the host's nodes, and a devpts of its own
 * - /mnt/data: the workspace, the only writable folder besides writable shares
 * - /mnt/user-data: links to its output/ and input/
 * - /mnt/spool, /mnt/packages: read-only, when the policy names them
 * - shares and runtimes at their own paths
 *
 * /home, /root, /run and /var are empty; /var/tmp is /tmp. There is no /sys.
 *
 * rootfs_open_sources, rootfs_build and rootfs_finish must be called in this order, in a new mount
 * namespace. The sources are opened as the server's user, because they may be root's. The others
 * need user 0 of the user namespace that owns the mount namespace.
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_H
#define SANDBOX_ROOTFS_ROOTFS_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/policy.h"

/* O_PATH descriptors, -1 where the policy names nothing. Closed by rootfs_build. */
struct rootfs_sources {
	int data;
	int spool;
	int packages;
	int shares[POLICY_SHARES_MAX];
	int runtimes[POLICY_RUNTIMES_MAX];
	uint32_t idmapped; /* bits of shares that are detached mounts already */
	uint32_t overlaid; /* bits of runtimes that are detached mounts already */
};

#define ROOTFS_SHARED "/dev/shm"

/* Returns how many bytes files in ROOTFS_SHARED may take when processes use `used` bytes. */
uint64_t rootfs_shared_room(const struct policy *policy, uint64_t used);
/*
 * Changes the size of ROOTFS_SHARED, which cannot go below its contents. Returns -1 when the kernel
 * refuses.
 */
int rootfs_resize_shared(uint64_t bytes);

/* Closes all descriptors. */
void rootfs_sources_release(struct rootfs_sources *sources);

/*
 * Opens the sources. `folders` are the descriptors of a WIRE_SANDBOX: each must be the same file as
 * at the policy's path. An idmapped share is used without its path. Returns -1 and sets *err
 * (ERR_DENIED when they differ); nothing is left open then.
 */
int rootfs_open_sources(const struct policy *policy, const int *folders, uint32_t idmapped,
			struct rootfs_sources *ret_sources, struct err *err) MUST_CHECK;
/*
 * Builds the tree and enters it. The old root is still at /old, and /proc is writable. *layers
 * holds the bits to be tried of LAYER_PRIVATE_PROC and LAYER_OWN_INODES, and is set to those that
 * succeeded. A masked /proc prevents a fresh one, and overlays depend on kernel, file system and
 * container. Returns -1 and sets *err.
 */
int rootfs_build(const struct policy *policy, struct rootfs_sources *sources, uint32_t *layers,
		 struct err *err) MUST_CHECK;
/* Detaches the old root and makes /, /dev and /proc read-only. Returns -1 and sets *err. */
int rootfs_finish(struct err *err) MUST_CHECK;

#endif
