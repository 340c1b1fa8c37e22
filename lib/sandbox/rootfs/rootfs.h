/* SPDX-License-Identifier: MIT */
/*
 * root.h - the file tree of a session: what of the host is seen in it, and where.
 *
 * A tmpfs of our own with, all without set-user-id bits and devices unless said:
 *   /usr; /bin /sbin /lib* as the host has them     the host's, read-only, an overlay where that is
 *                                                   had (rootfs_own.c), as are /etc and runtimes
 *   /etc                                            a list of the host's, read-only (rootfs_etc.c);
 *                                                   passwd, group, hosts, hostname are made
 *   /tmp                                            tmpfs with the policy's limits
 *   /dev/shm                                        tmpfs for what memory is left
 *   /proc                                           fresh, read-only
 *   /dev                                            a few of the host's nodes, own devpts
 *   /mnt/data                                       the workspace, the only folder that may be
 *                                                   written, but for shares that are writable
 *   /mnt/user-data                                  links to its output/ and input/
 *   /mnt/spool, /mnt/packages                       read-only, when the policy names them
 *   shares and runtimes                             at their own paths
 * /home, /root, /run, /var are empty; /var/tmp is /tmp. There is no /sys.
 *
 * To be called in a new mount namespace, in this order, by a process that is 0 of the user
 * namespace that owns it; sources are opened before it becomes that, as they may be root's.
 */
#ifndef SANDBOX_ROOTFS_ROOTFS_H
#define SANDBOX_ROOTFS_ROOTFS_H

#include <stdbool.h>
#include <stddef.h>
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
	uint32_t idmapped; /* shares that are mounts of their own already */
	uint32_t covered;  /* runtimes, likewise */
};

#define ROOTFS_SHARED "/dev/shm"

/* How much memory files in ROOTFS_SHARED may take, when processes have `used` of it. */
uint64_t rootfs_shared_room(const struct policy *policy, uint64_t used);
/* Gives it another size, no less than what is in it; -1 when the kernel refuses. */
int rootfs_resize_shared(uint64_t bytes);

void rootfs_sources_release(struct rootfs_sources *sources);

/*
 * `folders` are the descriptors of a WIRE_SANDBOX: what is found by the policy's paths must be the
 * same, ERR_DENIED otherwise; a share that was shifted needs no path.  On failure nothing is left
 * open.
 */
int rootfs_open_sources(const struct policy *policy, const int *folders, uint32_t idmapped,
			struct rootfs_sources *ret_sources, struct err *err) MUST_CHECK;
/*
 * Makes the tree and enters it. The old one is still at /old, /proc is writable. *layers: those
 * that are to be made of LAYER_PRIVATE_PROC and LAYER_OWN_INODES, as bits, and then those that
 * were: masks may keep us from mounting a fresh /proc, and not every kernel, file system and
 * container lets us have an overlay.
 */
int rootfs_build(const struct policy *policy, struct rootfs_sources *sources, uint32_t *layers,
		 struct err *err) MUST_CHECK;
/* Lets go of the old tree and makes /, /dev and /proc read-only. */
int rootfs_finish(struct err *err) MUST_CHECK;

#endif
