/* SPDX-License-Identifier: MIT */
/*
 * plan_policy.c - encodes and parses the plan of a sandbox: one record of numbers and flags, then
 * paths.
 *
 * Paths are checked to be plain (no "..", no double slash) before any is opened. Whether a path
 * leads to the right folder is checked later, against the descriptor that the server sends along.
 */
#include <assert.h>
#include <string.h>

#include "sandbox/wire/plan_internal.h"

/* The members that have the same size in every policy. */
struct policy_record {
	uint32_t tier;
	uint32_t flags;
	uint64_t open_files_max;
	uint64_t file_max;
	uint64_t memory_max;
	uint64_t processes_max;
	uint64_t cpu_seconds_max;
	uint64_t tmp_bytes_max;
	uint64_t tmp_files_max;
};

enum {
	FLAG_UNIX_SOCKETS = 1,
	FLAG_PROXY = 2,
	FLAG_IN_GROUP = 4,
	FLAG_ZYGOTE_SANDBOX = 8,
	FLAG_NESTED = 16,
	FLAGS_ALL = 31,
};

_Static_assert((size_t)(3 + POLICY_SHARES_MAX + POLICY_RUNTIMES_MAX) * (PLAN_PATH_MAX + 8) +
			       sizeof(struct policy_record) + 64 <=
		       PLAN_BYTES_MAX,
	       "the largest policy fits");

/* ---- writing ---- */

static int add_numbers(struct buf *plan, const struct policy *policy, struct err *err)
{
	const struct policy_record record = {
		.tier = policy->tier,
		.flags = (policy->unix_sockets ? FLAG_UNIX_SOCKETS : 0U) |
			 (policy->proxy ? FLAG_PROXY : 0U) |
			 (policy->in_group ? FLAG_IN_GROUP : 0U) |
			 (policy->zygote_sandbox ? FLAG_ZYGOTE_SANDBOX : 0U) |
			 (policy->nested ? FLAG_NESTED : 0U),
		.open_files_max = policy->open_files_max,
		.file_max = policy->file_max,
		.memory_max = policy->memory_max,
		.processes_max = policy->processes_max,
		.cpu_seconds_max = policy->cpu_seconds_max,
		.tmp_bytes_max = policy->tmp_bytes_max,
		.tmp_files_max = policy->tmp_files_max,
	};

	return plan_add_record(plan, TAG_POLICY, &record, sizeof(record), err);
}

static int add_path_record(struct buf *plan, enum plan_tag tag, const char *path, struct err *err)
{
	return plan_add_record(plan, tag, path, strlen(path) + 1, err);
}

static int add_paths(struct buf *plan, const struct policy *policy, struct err *err)
{
	if (add_path_record(plan, TAG_DATA_PATH, policy->data_path, err) < 0 ||
	    add_path_record(plan, TAG_SPOOL_PATH, policy->spool_path, err) < 0 ||
	    add_path_record(plan, TAG_PACKAGES_PATH, policy->packages_path, err) < 0)
		return -1;
	for (size_t i = 0; i < policy->share_count; i++)
		if (add_path_record(plan,
				    policy->shares[i].writable ? TAG_SHARE_WRITE : TAG_SHARE_READ,
				    policy->shares[i].path, err) < 0)
			return -1;
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (add_path_record(plan, TAG_RUNTIME, policy->runtimes[i], err) < 0)
			return -1;
	return 0;
}

int plan_write_sandbox(struct buf *ret_plan, const struct policy *policy, struct err *err)
{
	struct policy check;

	assert(policy->share_count <= POLICY_SHARES_MAX &&
	       policy->runtime_count <= POLICY_RUNTIMES_MAX);
	if (plan_add_header(ret_plan, PLAN_KIND_SANDBOX, err) < 0 ||
	    add_numbers(ret_plan, policy, err) < 0 || add_paths(ret_plan, policy, err) < 0)
		return -1;
	plan_close_header(ret_plan);
	/* The reader's rules apply to writers as well. */
	return plan_parse_sandbox(ret_plan->data, ret_plan->len, &check, err);
}

/* ---- reading ---- */

static int read_numbers(struct policy *policy, const struct plan_record *record, struct err *err)
{
	struct policy_record raw;

	if (record->tag != TAG_POLICY || record->len != sizeof(raw))
		return err_set(err, ERR_INVALID, "a sandbox's plan that begins with no policy");
	memcpy(&raw, record->data, sizeof(raw));
	if (raw.tier >= POLICY_TIERS || (raw.flags & ~(uint32_t)FLAGS_ALL) != 0)
		return err_set(err, ERR_INVALID, "a policy with an unknown tier or flag");
	*policy = (struct policy){
		.tier = (enum policy_tier)raw.tier,
		.open_files_max = raw.open_files_max,
		.file_max = raw.file_max,
		.memory_max = raw.memory_max,
		.processes_max = raw.processes_max,
		.cpu_seconds_max = raw.cpu_seconds_max,
		.tmp_bytes_max = raw.tmp_bytes_max,
		.tmp_files_max = raw.tmp_files_max,
		.unix_sockets = (raw.flags & FLAG_UNIX_SOCKETS) != 0,
		.proxy = (raw.flags & FLAG_PROXY) != 0,
		.zygote_sandbox = (raw.flags & FLAG_ZYGOTE_SANDBOX) != 0,
		.nested = (raw.flags & FLAG_NESTED) != 0,
		.in_group = (raw.flags & FLAG_IN_GROUP) != 0,
	};
	return 0;
}

/* Returns whether the path is absolute, below the root, and every component is a plain name. */
static bool is_plain(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *name = path; *name == '/';) {
		size_t len = strcspn(++name, "/");

		if (len == 0 || (len == 1 && name[0] == '.') ||
		    (len == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += len;
	}
	return true;
}

/* Reads a path that may be "" (none) and may come once. */
static int read_folder(const char **ret_path, const struct plan_record *record, struct err *err)
{
	if (*ret_path != NULL)
		return err_set(err, ERR_INVALID, "a policy that names a folder twice");
	if (record->data[0] != '\0' && !is_plain(record->data))
		return err_set(err, ERR_INVALID, "the folder '%s' is no plain absolute path",
			       record->data);
	*ret_path = record->data;
	return 0;
}

static int read_share(struct policy *policy, const struct plan_record *record, struct err *err)
{
	if (policy->share_count == POLICY_SHARES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d shares", POLICY_SHARES_MAX);
	if (!is_plain(record->data))
		return err_set(err, ERR_INVALID, "the share '%s' is no plain absolute path",
			       record->data);
	policy->shares[policy->share_count++] = (struct policy_share){
		.path = record->data,
		.writable = record->tag == TAG_SHARE_WRITE,
	};
	return 0;
}

static int read_runtime(struct policy *policy, const struct plan_record *record, struct err *err)
{
	if (policy->runtime_count == POLICY_RUNTIMES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d folders of interpreters",
			       POLICY_RUNTIMES_MAX);
	if (!is_plain(record->data))
		return err_set(err, ERR_INVALID, "'%s' of an interpreter is no plain absolute path",
			       record->data);
	policy->runtimes[policy->runtime_count++] = record->data;
	return 0;
}

static int read_path(struct policy *policy, const struct plan_record *record, struct err *err)
{
	if (record->len > PLAN_PATH_MAX || !plan_is_string(record->data, record->len))
		return err_set(err, ERR_INVALID, "a policy with a path that is no string");
	switch (record->tag) {
	case TAG_DATA_PATH:
		return read_folder(&policy->data_path, record, err);
	case TAG_SPOOL_PATH:
		return read_folder(&policy->spool_path, record, err);
	case TAG_PACKAGES_PATH:
		return read_folder(&policy->packages_path, record, err);
	case TAG_SHARE_READ:
	case TAG_SHARE_WRITE:
		return read_share(policy, record, err);
	case TAG_RUNTIME:
		return read_runtime(policy, record, err);
	default:
		return err_set(err, ERR_INVALID, "a policy with the unknown record %u",
			       record->tag);
	}
}

static int check_whole(const struct policy *policy, struct err *err)
{
	if (policy->data_path == NULL || policy->spool_path == NULL ||
	    policy->packages_path == NULL)
		return err_set(err, ERR_INVALID,
			       "a policy that does not say where its folders are");
	if (policy->tier != POLICY_UNCONFINED && policy->data_path[0] == '\0')
		return err_set(err, ERR_INVALID, "a policy without a workspace");
	if (policy->tier != POLICY_NAMESPACES && (policy->zygote_sandbox || policy->nested))
		return err_set(err, ERR_INVALID, "a zygote sandbox without namespaces");
	return 0;
}

int plan_parse_sandbox(const void *data, size_t len, struct policy *ret_policy, struct err *err)
{
	struct plan_reader reader;
	struct plan_record record = { 0 };
	struct policy policy;
	int got;

	if (plan_open(&reader, data, len, PLAN_KIND_SANDBOX, err) < 0)
		return -1;
	got = plan_next(&reader, &record, err);
	if (got == 0)
		return err_set(err, ERR_INVALID, "a sandbox's plan without a policy");
	if (got < 0 || read_numbers(&policy, &record, err) < 0)
		return -1;
	while ((got = plan_next(&reader, &record, err)) == 1)
		if (read_path(&policy, &record, err) < 0)
			return -1;
	if (got < 0 || check_whole(&policy, err) < 0)
		return -1;
	*ret_policy = policy;
	return 0;
}
