/* SPDX-License-Identifier: MIT */
#include "sandbox/policy.h"

void policy_init(struct policy *policy)
{
	*policy = (struct policy){
		.open_files_max = 4096,
		.file_max = POLICY_NO_LIMIT,
		.memory_max = POLICY_NO_LIMIT,
		.processes_max = POLICY_NO_LIMIT,
		.cpu_seconds_max = POLICY_NO_LIMIT,
	};
}
