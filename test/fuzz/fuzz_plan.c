/* SPDX-License-Identifier: MIT */
/* A plan as the launcher reads it: whatever is accepted is read to its last byte. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/wire/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_bytes(char *const *strings)
{
	size_t bytes = 0;

	for (size_t i = 0; strings[i] != NULL; i++)
		bytes += strlen(strings[i]) + 1;
	return bytes;
}

static void check_path(const char *path)
{
	if (path[0] != '/' || path[1] == '\0' || strlen(path) >= PLAN_PATH_MAX ||
	    strstr(path, "/../") != NULL || strstr(path, "//") != NULL)
		abort();
}

static void check_policy(const struct policy *policy)
{
	if (policy->share_count > POLICY_SHARES_MAX || policy->runtime_count > POLICY_RUNTIMES_MAX)
		abort();
	for (size_t i = 0; i < policy->share_count; i++)
		check_path(policy->shares[i].path);
	for (size_t i = 0; i < policy->runtime_count; i++)
		check_path(policy->runtimes[i]);
	if (policy->tier != POLICY_UNCONFINED)
		check_path(policy->data_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_start start;
	struct policy policy;
	struct err err;

	if (plan_parse_sandbox(data, size, &policy, &err) == 0)
		check_policy(&policy);
	else if (err.msg[0] == '\0')
		abort();
	if (plan_parse_start(data, size, &start, &err) < 0)
		return 0;
	if (count_bytes(start.argv) + count_bytes(start.envp) > PLAN_STRING_BYTES_MAX ||
	    strlen(start.cwd) >= PLAN_PATH_MAX || start.descriptor_count > PLAN_DESCRIPTORS_MAX)
		abort();
	plan_start_release(&start);
	return 0;
}
