/* SPDX-License-Identifier: MIT */
/*
 * idmap.h - idmapped mounts for shares, where the server is root and the session's user is not.
 *
 * The session then has an unprivileged user of its own (sandbox/namespaces/uid_map.h). In an
 * idmapped mount, files of the share's owner belong to that user. Files that it makes belong to the
 * share's owner outside, as if the server ran as that owner. Files of other users stay theirs.
 */
#ifndef SANDBOX_ROOTFS_IDMAP_H
#define SANDBOX_ROOTFS_IDMAP_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/namespaces/uid_map.h"
#include "sandbox/policy.h"

/*
 * Replaces descriptors of the policy's shares by detached idmapped mounts, which the caller closes
 * by idmap_release. Sets *ret_idmapped to the bits 1U << i of replaced shares; to 0 when `map` is
 * the caller's own user. A share whose kernel or file system cannot do this is left as it is. If it
 * is a writable one, this returns -1 and sets *err (ERR_UNSUPPORTED). It has then closed the
 * descriptors that it had put into `shares`, and set these to -1.
 */
int idmap_shares(const struct policy *policy, const struct uid_map *map, int *shares,
		 uint32_t *ret_idmapped, struct err *err) MUST_CHECK;
/* Closes the mounts that idmap_shares made. */
void idmap_release(uint32_t idmapped, int *shares);

#endif
