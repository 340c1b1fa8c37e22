/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/wire/plan.h"

static char program[] = "/usr/bin/python3";
static char flag[] = "-I";
static char empty[] = "";
static char variable[] = "PATH=/usr/bin";

static struct plan_start sample(void)
{
	static char *argv[] = { program, flag, empty, NULL };
	static char *envp[] = { variable, NULL };
	struct plan_start start = {
		.argv = argv,
		.envp = envp,
		.cwd = "/tmp",
		.rows = 40,
		.columns = 120,
		.descriptors = { { "control", 3, PLAN_SOCKET }, { "stdin", 0, PLAN_PIPE_IN } },
		.descriptor_count = 2,
	};

	return start;
}

static void write_sample(struct buf *plan)
{
	struct plan_start start = sample();
	struct err err;

	plan_buf_init(plan);
	assert_int_equal(plan_write_start(plan, &start, &err), 0);
}

static void a_start_survives_the_way(void **state)
{
	cleanup_buf struct buf plan;
	struct plan_start start;
	struct err err;

	(void)state;
	write_sample(&plan);
	assert_int_equal(plan_parse_start(plan.data, plan.len, &start, &err), 0);
	assert_string_equal(start.argv[0], program);
	assert_string_equal(start.argv[1], "-I");
	assert_string_equal(start.argv[2], "");
	assert_null(start.argv[3]);
	assert_string_equal(start.envp[0], variable);
	assert_null(start.envp[1]);
	assert_string_equal(start.cwd, "/tmp");
	assert_int_equal(start.rows, 40);
	assert_int_equal(start.columns, 120);
	assert_int_equal(start.descriptor_count, 2);
	assert_string_equal(start.descriptors[1].name, "stdin");
	assert_int_equal(start.descriptors[1].number, 0);
	assert_int_equal(start.descriptors[1].kind, PLAN_PIPE_IN);
	plan_start_release(&start);
}

static struct policy sample_policy(void)
{
	struct policy policy;

	policy_init(&policy);
	policy.memory_max = 1234567;
	policy.processes_max = 99;
	policy.data_path = "/home/u/.cache/data";
	policy.spool_path = "/home/u/.cache/spool";
	policy.shares[0] = (struct policy_share){ "/home/u/notes", false };
	policy.shares[1] = (struct policy_share){ "/home/u/project", true };
	policy.share_count = 2;
	policy.runtimes[0] = "/opt/python";
	policy.runtime_count = 1;
	policy.proxy = true;
	return policy;
}

static void write_policy(struct buf *plan)
{
	struct policy policy = sample_policy();
	struct err err;

	plan_buf_init(plan);
	assert_int_equal(plan_write_sandbox(plan, &policy, &err), 0);
}

static void a_policy_survives_the_way(void **state)
{
	cleanup_buf struct buf plan;
	struct policy parsed;
	struct err err;

	(void)state;
	write_policy(&plan);
	assert_int_equal(plan_parse_sandbox(plan.data, plan.len, &parsed, &err), 0);
	assert_int_equal(parsed.tier, POLICY_NAMESPACES);
	assert_int_equal(parsed.memory_max, 1234567);
	assert_int_equal(parsed.processes_max, 99);
	assert_int_equal(parsed.file_max, POLICY_NO_LIMIT);
	assert_int_equal(parsed.tmp_files_max, 65536);
	assert_string_equal(parsed.data_path, "/home/u/.cache/data");
	assert_string_equal(parsed.spool_path, "/home/u/.cache/spool");
	assert_string_equal(parsed.packages_path, "");
	assert_int_equal(parsed.share_count, 2);
	assert_string_equal(parsed.shares[0].path, "/home/u/notes");
	assert_false(parsed.shares[0].writable);
	assert_string_equal(parsed.shares[1].path, "/home/u/project");
	assert_true(parsed.shares[1].writable);
	assert_int_equal(parsed.runtime_count, 1);
	assert_string_equal(parsed.runtimes[0], "/opt/python");
	assert_true(parsed.unix_sockets);
	assert_true(parsed.proxy);
}

static void no_pointer_of_a_policy_travels(void **state)
{
	cleanup_buf struct buf plan;
	struct policy policy = sample_policy();

	(void)state;
	write_policy(&plan);
	assert_null(memmem(plan.data, plan.len, &policy.data_path, sizeof(policy.data_path)));
	assert_null(memmem(plan.data, plan.len, &policy.shares[0].path, sizeof(char *)));
}

static void check_policy_refused(const struct policy *policy, enum err_code code)
{
	cleanup_buf struct buf plan;
	struct err err;

	plan_buf_init(&plan);
	assert_int_equal(plan_write_sandbox(&plan, policy, &err), -1);
	assert_int_equal(err.code, code);
}

static void a_policy_names_plain_absolute_paths_only(void **state)
{
	static const char *const wrong[] = {
		"relative", "/",     "//",       "/a//b", "/a/", "/a/./b",
		"/a/../b",  "/a/..", "/a/b/../", "/.",    "/..",
	};
	static const char *const odd[] = { "/..a", "/a/...", "/a/.b", "/a\nb", "/-rf" };
	struct policy policy;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		policy = sample_policy();
		policy.data_path = wrong[i];
		check_policy_refused(&policy, ERR_INVALID);
		policy = sample_policy();
		policy.shares[1].path = wrong[i];
		check_policy_refused(&policy, ERR_INVALID);
		policy = sample_policy();
		policy.runtimes[0] = wrong[i];
		check_policy_refused(&policy, ERR_INVALID);
	}
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		cleanup_buf struct buf plan;
		struct err err;

		plan_buf_init(&plan);
		policy = sample_policy();
		policy.shares[1].path = odd[i];
		assert_int_equal(plan_write_sandbox(&plan, &policy, &err), 0);
	}
}

static void only_an_unconfined_policy_may_lack_the_workspace(void **state)
{
	cleanup_buf struct buf plan;
	struct policy policy = sample_policy();
	struct err err;

	(void)state;
	plan_buf_init(&plan);
	policy.data_path = "";
	check_policy_refused(&policy, ERR_INVALID);
	policy.tier = POLICY_UNCONFINED;
	assert_int_equal(plan_write_sandbox(&plan, &policy, &err), 0);
	policy.tier = POLICY_TIERS;
	check_policy_refused(&policy, ERR_INVALID);
}

static void the_largest_policy_fits(void **state)
{
	cleanup_buf struct buf plan;
	struct policy policy = sample_policy();
	char *path = calloc(1, PLAN_PATH_MAX + 1);
	struct policy parsed;
	struct err err;

	(void)state;
	plan_buf_init(&plan);
	memset(path, 'x', PLAN_PATH_MAX - 1);
	path[0] = '/';
	policy.data_path = policy.spool_path = policy.packages_path = path;
	for (size_t i = 0; i < POLICY_SHARES_MAX; i++)
		policy.shares[i].path = path;
	for (size_t i = 0; i < POLICY_RUNTIMES_MAX; i++)
		policy.runtimes[i] = path;
	policy.share_count = POLICY_SHARES_MAX;
	policy.runtime_count = POLICY_RUNTIMES_MAX;
	assert_int_equal(plan_write_sandbox(&plan, &policy, &err), 0);
	assert_int_equal(plan_parse_sandbox(plan.data, plan.len, &parsed, &err), 0);
	assert_int_equal(parsed.share_count, POLICY_SHARES_MAX);
	assert_int_equal(parsed.runtime_count, POLICY_RUNTIMES_MAX);
	path[PLAN_PATH_MAX - 1] = 'x';
	check_policy_refused(&policy, ERR_INVALID);
	free(path);
}

/* The last record of a kind, or an additional one, comes twice: the second is refused. */
static void a_folder_or_too_many_of_a_kind_is_refused(void **state)
{
	static const struct {
		uint32_t tag;
		const char *path;
		size_t times;
	} rows[] = {
		{ 7, "/x", 1 },
		{ 8, "/x", 1 },
		{ 10, "/x", POLICY_SHARES_MAX - 1 },
		{ 11, "/x", POLICY_SHARES_MAX - 1 },
		{ 12, "/x", POLICY_RUNTIMES_MAX },
		{ 13, "/x", 1 },
	};

	(void)state;
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		cleanup_buf struct buf plan;
		const uint32_t header[] = { rows[row].tag, (uint32_t)strlen(rows[row].path) + 1 };
		struct policy parsed;
		struct err err;
		uint32_t len;

		write_policy(&plan);
		for (size_t i = 0; i < rows[row].times; i++) {
			buf_put(&plan, header, sizeof(header));
			buf_put(&plan, rows[row].path, header[1]);
		}
		len = (uint32_t)plan.len;
		memcpy(plan.data + 8, &len, sizeof(len));
		if (plan_parse_sandbox(plan.data, plan.len, &parsed, &err) == 0)
			fail_msg("record %u was accepted", rows[row].tag);
	}
}

static void a_cut_policy_is_refused_at_every_length(void **state)
{
	cleanup_buf struct buf plan;

	(void)state;
	write_policy(&plan);
	for (size_t len = 0; len < plan.len; len++) {
		char *cut = malloc(len + 1);
		struct policy parsed;
		struct err err;

		memcpy(cut, plan.data, len);
		assert_int_equal(plan_parse_sandbox(cut, len, &parsed, &err), -1);
		free(cut);
	}
}

static void check_policy_promises(const struct policy *policy)
{
	assert_in_range(policy->tier, 0, POLICY_TIERS - 1);
	assert_int_equal(policy->data_path[0], '/');
	assert_true(policy->spool_path[0] == '/' || policy->spool_path[0] == '\0');
	assert_in_range(policy->share_count, 0, POLICY_SHARES_MAX);
	for (size_t i = 0; i < policy->share_count; i++)
		assert_null(strstr(policy->shares[i].path, "/../"));
	for (size_t i = 0; i < policy->runtime_count; i++)
		assert_int_equal(policy->runtimes[i][0], '/');
}

static void every_flipped_bit_of_a_policy_is_refused_or_keeps_the_promises(void **state)
{
	cleanup_buf struct buf plan;
	int refused = 0;

	(void)state;
	write_policy(&plan);
	for (size_t bit = 0; bit < plan.len * 8; bit++) {
		struct policy parsed;
		struct err err;

		plan.data[bit / 8] ^= (char)(1 << bit % 8);
		if (plan_parse_sandbox(plan.data, plan.len, &parsed, &err) == 0)
			check_policy_promises(&parsed);
		else
			refused++;
		plan.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	assert_true(refused > 12 * 8 + 6 * 4 * 8);
}

static void one_kind_of_plan_is_not_the_other(void **state)
{
	cleanup_buf struct buf plan;
	struct policy policy;
	struct err err;

	(void)state;
	write_sample(&plan);
	assert_int_equal(plan_parse_sandbox(plan.data, plan.len, &policy, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
}

static void a_cut_plan_is_refused_at_every_length(void **state)
{
	cleanup_buf struct buf plan;

	(void)state;
	write_sample(&plan);
	for (size_t len = 0; len < plan.len; len++) {
		/* A copy of exactly this size, so that a read past it is seen. */
		char *cut = malloc(len + 1);
		struct plan_start start;
		struct err err;

		memcpy(cut, plan.data, len);
		assert_int_equal(plan_parse_start(cut, len, &start, &err), -1);
		free(cut);
	}
}

/* A parsed plan keeps every promise that the code behind it relies on. */
static void check_promises(const struct plan_start *start)
{
	assert_int_equal(start->argv[0][0], '/');
	assert_true(start->cwd[0] == '/' || start->cwd[0] == '\0');
	assert_in_range(start->rows, 1, PLAN_TERMINAL_MAX);
	assert_in_range(start->columns, 1, PLAN_TERMINAL_MAX);
	assert_in_range(start->descriptor_count, 0, PLAN_DESCRIPTORS_MAX);
	for (size_t i = 0; i < start->descriptor_count; i++) {
		assert_in_range(start->descriptors[i].number, 0, PLAN_DESCRIPTOR_NUMBER_MAX);
		assert_in_range(start->descriptors[i].kind, 0, PLAN_DESCRIPTOR_KINDS - 1);
		assert_in_range(strlen(start->descriptors[i].name), 1,
				PLAN_DESCRIPTOR_NAME_MAX - 1);
	}
}

static void every_flipped_bit_is_refused_or_keeps_the_promises(void **state)
{
	cleanup_buf struct buf plan;
	int refused = 0;

	(void)state;
	write_sample(&plan);
	for (size_t bit = 0; bit < plan.len * 8; bit++) {
		struct plan_start start;
		struct err err;

		plan.data[bit / 8] ^= (char)(1 << bit % 8);
		if (plan_parse_start(plan.data, plan.len, &start, &err) == 0) {
			check_promises(&start);
			plan_start_release(&start);
		} else {
			refused++;
		}
		plan.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	/* At least every bit of the header and of each record's header. */
	assert_true(refused > 12 * 8 + 8 * 8 * 8);
}

static void check_refused(const struct plan_start *start, enum err_code code)
{
	cleanup_buf struct buf plan;
	struct err err;

	plan_buf_init(&plan);
	assert_int_equal(plan_write_start(&plan, start, &err), -1);
	assert_int_equal(err.code, code);
}

static void what_the_reader_refuses_is_not_written(void **state)
{
	static char relative[] = "python3";
	struct plan_start start = sample();

	(void)state;
	start.argv = (char *[]){ relative, NULL };
	check_refused(&start, ERR_INVALID);
	start = sample();
	start.argv = (char *[]){ NULL };
	check_refused(&start, ERR_INVALID);
	start = sample();
	start.cwd = "relative";
	check_refused(&start, ERR_INVALID);
	start = sample();
	start.rows = 0;
	check_refused(&start, ERR_INVALID);
	start = sample();
	start.descriptors[1].number = 3;
	check_refused(&start, ERR_INVALID);
	start = sample();
	start.descriptors[1].number = PLAN_DESCRIPTOR_NUMBER_MAX + 1;
	check_refused(&start, ERR_INVALID);
}

static void too_many_strings_are_over_the_limit(void **state)
{
	struct plan_start start = sample();
	char **argv = calloc(PLAN_STRINGS_MAX + 2, sizeof(char *));

	(void)state;
	for (size_t i = 0; i < PLAN_STRINGS_MAX; i++)
		argv[i] = program;
	start.argv = argv;
	check_refused(&start, ERR_LIMIT);
	free((void *)argv);
}

static void strings_up_to_the_cap_fit(void **state)
{
	struct plan_start start = sample();
	char *big = calloc(1, PLAN_STRING_BYTES_MAX);
	cleanup_buf struct buf plan;
	struct err err;

	(void)state;
	plan_buf_init(&plan);
	memset(big, 'x', PLAN_STRING_BYTES_MAX - sizeof(program) - 1);
	start.argv = (char *[]){ program, big, NULL };
	start.envp = (char *[]){ NULL };
	assert_int_equal(plan_write_start(&plan, &start, &err), 0);
	big[strlen(big)] = 'x';
	check_refused(&start, ERR_LIMIT);
	free(big);
}

static void only_a_sealed_file_is_mapped(void **state)
{
	cleanup_buf struct buf plan;
	cleanup_fd int sealed = -1;
	cleanup_fd int open_file = memfd_create("plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const void *data;
	struct err err;
	size_t len;

	(void)state;
	write_sample(&plan);
	sealed = plan_seal(&plan, &err);
	assert_true(sealed >= 0);
	assert_int_equal(write(sealed, "x", 1), -1);
	data = plan_map(sealed, &len, &err);
	assert_non_null(data);
	assert_int_equal(len, plan.len);
	assert_memory_equal(data, plan.data, len);
	plan_unmap(data, len);
	assert_int_equal(fd_write_all(open_file, plan.data, plan.len, &err), 0);
	assert_null(plan_map(open_file, &len, &err));
	assert_null(plan_map(STDIN_FILENO, &len, &err));
}

/* The substitute for a memfd, where a seccomp filter forbids those. */
static void a_file_that_takes_no_seals_is_copied(void **state)
{
	static const char *const folders[] = { "/dev/shm", "." };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		cleanup_buf struct buf plan;
		cleanup_fd int file = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		const void *data;
		struct err err;
		size_t len;

		write_sample(&plan);
		assert_int_equal(fd_write_all(file, plan.data, plan.len, &err), 0);
		data = plan_map(file, &len, &err);
		assert_non_null(data);
		assert_int_equal(pwrite(file, "xxxxxxxx", 8, 0), 8);
		assert_int_equal(len, plan.len);
		assert_memory_equal(data, plan.data, len);
		plan_unmap(data, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_survives_the_way),
		cmocka_unit_test(a_policy_survives_the_way),
		cmocka_unit_test(no_pointer_of_a_policy_travels),
		cmocka_unit_test(a_policy_names_plain_absolute_paths_only),
		cmocka_unit_test(only_an_unconfined_policy_may_lack_the_workspace),
		cmocka_unit_test(the_largest_policy_fits),
		cmocka_unit_test(a_folder_or_too_many_of_a_kind_is_refused),
		cmocka_unit_test(a_cut_policy_is_refused_at_every_length),
		cmocka_unit_test(every_flipped_bit_of_a_policy_is_refused_or_keeps_the_promises),
		cmocka_unit_test(one_kind_of_plan_is_not_the_other),
		cmocka_unit_test(a_cut_plan_is_refused_at_every_length),
		cmocka_unit_test(every_flipped_bit_is_refused_or_keeps_the_promises),
		cmocka_unit_test(what_the_reader_refuses_is_not_written),
		cmocka_unit_test(too_many_strings_are_over_the_limit),
		cmocka_unit_test(strings_up_to_the_cap_fit),
		cmocka_unit_test(only_a_sealed_file_is_mapped),
		cmocka_unit_test(a_file_that_takes_no_seals_is_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
