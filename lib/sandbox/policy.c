/* SPDX-License-Identifier: MIT */
/*
 * policy.c - the defaults of a policy, and questions about one.
 *
 * A zeroed policy would be unsafe: tier 0 is "unconfined" and a limit of 0 stops every program.
 * Callers therefore start from policy_init.
 */
#include "sandbox/policy.h"

#include <string.h>

void policy_init(struct policy *policy)
{
	*policy = (struct policy){
		.tier = POLICY_NAMESPACES,
		.open_files_max = 4096,
		.file_max = POLICY_NO_LIMIT,
		.memory_max = POLICY_NO_LIMIT,
		.processes_max = POLICY_NO_LIMIT,
		.cpu_seconds_max = POLICY_NO_LIMIT,
		.tmp_bytes_max = 256ULL << 20,
		.tmp_files_max = 65536,
		.data_path = "",
		.spool_path = "",
		.packages_path = "",
		.unix_sockets = true,
	};
}

const char *policy_tier_name(enum policy_tier tier)
{
	static const char *const names[POLICY_TIERS] = {
		[POLICY_UNCONFINED] = "unconfined",
		[POLICY_LANDLOCK] = "landlock",
		[POLICY_BWRAP] = "bwrap",
		[POLICY_NAMESPACES] = "namespaces",
	};

	return names[tier];
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

bool policy_shows_below(const struct policy *policy, const char *folder)
{
	for (size_t i = 0; i < policy->share_count; i++)
		if (is_below(policy->shares[i].path, folder))
			return true;
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (is_below(policy->runtimes[i], folder))
			return true;
	return false;
}
