/* SPDX-License-Identifier: MIT */
/*
 * lockdown.c - enters a landlock ruleset. LANDLOCK_ACCESS_FS_REFER (ABI 2) is among the rights for
 * removing, because folders are moved up before they are emptied. Without it, landlock refuses
 * every rename across folders: callers that need one pass min_abi 2.
 */
#include "lockdown.h"

#include "base/fd.h"
#include "base/random.h"
#include "lockdown/landlock_ruleset.h"

const uint64_t lockdown_read = LANDLOCK_RULESET_READ;
const uint64_t lockdown_write = LANDLOCK_RULESET_WRITE;
const uint64_t lockdown_remove = LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
				 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_DIR |
				 LANDLOCK_ACCESS_FS_REFER;
const uint64_t lockdown_rename = LANDLOCK_RULESET_READ | LANDLOCK_ACCESS_FS_REMOVE_FILE |
				 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
				 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
				 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK;

int lockdown_files(const struct lockdown_rule *rules, size_t count, int min_abi, struct err *err)
{
	int abi = landlock_abi(LANDLOCK_ABI_SIGNALS);
	cleanup_fd int ruleset = -1;
	struct landlock_rights refused;

	if (abi < 1 || abi < min_abi)
		return 0;
	refused = landlock_ruleset_rights(abi);
	ruleset = landlock_ruleset_new(&refused, err);
	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (landlock_ruleset_allow(ruleset, rules[i].fd, rules[i].rights & refused.fs,
					   err) < 0)
			return -1;
	if (landlock_ruleset_allow_file(ruleset, RANDOM_DEVICE, err) < 0)
		return -1;
	return landlock_ruleset_enter(ruleset, err);
}
