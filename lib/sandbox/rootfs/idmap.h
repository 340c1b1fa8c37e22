/* SPDX-License-Identifier: MIT */
/*
 * shift.h - lets a root server's session use a share as the share's owner, whom it is not.
 *
 * Such a session has an unprivileged user of its own (sandbox/namespaces/uid_map.h). By a mount
 * that maps owners, files of whoever owns the share's top are its own inside, and what it makes
 * there belongs to that owner outside: the same as when the server runs as that owner. Files of
 * others stay others'.
 */
#ifndef SANDBOX_ROOTFS_IDMAP_H
#define SANDBOX_ROOTFS_IDMAP_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/namespaces/uid_map.h"
#include "sandbox/policy.h"

/*
 * Replaces the descriptors of the policy's shares by mounts that are nowhere yet, whose owners are
 * mapped: those are the caller's to close. *ret_shifted is 1U << which; none when `map` is not
 * foreign. Where kernel or file system cannot do it a share is left as it is, and one for writing
 * is ERR_UNSUPPORTED, with nothing replaced.
 */
int idmap_shares(const struct policy *policy, const struct uid_map *map, int *shares,
		 uint32_t *ret_idmapped, struct err *err) MUST_CHECK;
/* Closes what idmap_shares made. */
void idmap_release(uint32_t idmapped, int *shares);

#endif
