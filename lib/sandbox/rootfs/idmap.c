/* SPDX-License-Identifier: MIT */
/*
 * idmap.c - replaces the shares of a root server's session by idmapped mounts.
 *
 * The launcher makes these mounts before it forks init, because MOUNT_ATTR_IDMAP needs privileges
 * over the file system. The map is a user namespace that exists only as a descriptor.
 */
#include "sandbox/rootfs/idmap.h"

#include <sys/stat.h>

#include "base/fd.h"
#include "sandbox/rootfs/mount_source.h"

_Static_assert(POLICY_SHARES_MAX <= 32, "a bit for each share");

static int idmap_share(const struct policy_share *row, int share, const struct uid_map *map,
		       struct err *err)
{
	cleanup_fd int found = mount_source_open(row->path, share, err);
	cleanup_fd int user_ns = -1;
	struct stat st;

	if (found < 0)
		return -1;
	if (fstat(share, &st) < 0)
		return err_sys(err, "looking at '%s'", row->path);
	user_ns = uid_map_open_idmap(st.st_uid, st.st_gid, map, err);
	return user_ns < 0 ? -1 : mount_source_idmap(share, row->writable, user_ns, err);
}

/* A share that was replaced meanwhile is left as it is: init compares it again and reports it. */
static int explain_failed(const struct policy_share *row, struct err *err)
{
	if (!row->writable || err->code == ERR_DENIED)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "this kernel, or the file system of '%s', does not let a session of root "
		       "write as the folder's owner: share it without :rw, or start ptycell as "
		       "its owner",
		       row->path);
}

int idmap_shares(const struct policy *policy, const struct uid_map *map, int *shares,
		 uint32_t *ret_idmapped, struct err *err)
{
	uint32_t idmapped = 0;

	for (size_t i = 0; map->other_user && i < policy->share_count; i++) {
		int tree = idmap_share(&policy->shares[i], shares[i], map, err);

		if (tree >= 0) {
			shares[i] = tree;
			idmapped |= BIT(i);
		} else if (explain_failed(&policy->shares[i], err) < 0) {
			idmap_release(idmapped, shares);
			return -1;
		}
	}
	*ret_idmapped = idmapped;
	return 0;
}

void idmap_release(uint32_t idmapped, int *shares)
{
	for (size_t i = 0; i < POLICY_SHARES_MAX; i++)
		if ((idmapped & BIT(i)) != 0)
			fd_close(&shares[i]);
}
