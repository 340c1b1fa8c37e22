/* SPDX-License-Identifier: MIT */
#include "sandbox/shift.h"

#include <sys/stat.h>

#include "base/fd.h"
#include "sandbox/source.h"

_Static_assert(POLICY_SHARES_MAX <= 32, "a bit for each share");

static int shift_one(const struct policy_share *row, int share, const struct usermap *map)
{
	cleanup_fd int found = -1;
	cleanup_fd int user_ns = -1;
	struct stat st;
	struct err err;

	/* One that was replaced is left to init, which looks again and refuses it. */
	found = source_open(row->path, share, &err);
	if (found < 0 || fstat(share, &st) < 0)
		return -1;
	user_ns = usermap_open_shifted(st.st_uid, st.st_gid, map, &err);
	return user_ns < 0 ? -1 : source_shift(share, row->writable, user_ns, &err);
}

uint32_t shift_shares(const struct policy *policy, const struct usermap *map, int *shares)
{
	uint32_t shifted = 0;

	for (size_t i = 0; map->foreign && i < policy->share_count; i++) {
		int tree = shift_one(&policy->shares[i], shares[i], map);

		if (tree < 0)
			continue;
		shares[i] = tree;
		shifted |= BIT(i);
	}
	return shifted;
}

void shift_release(uint32_t shifted, int *shares)
{
	for (size_t i = 0; i < POLICY_SHARES_MAX; i++)
		if ((shifted & BIT(i)) != 0)
			fd_close(&shares[i]);
}
