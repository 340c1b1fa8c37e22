/* SPDX-License-Identifier: MIT */
#include "sandbox/policy.h"

void policy_init(struct policy *policy)
{
	*policy = (struct policy){
		.max_open_files = 4096,
		.max_file_bytes = POLICY_NO_LIMIT,
		.max_address_bytes = POLICY_NO_LIMIT,
		.max_processes = POLICY_NO_LIMIT,
		.max_cpu_seconds = POLICY_NO_LIMIT,
	};
}
