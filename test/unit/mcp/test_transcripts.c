/* SPDX-License-Identifier: MIT */
/*
 * Replays test/data/mcp/CASE/in.jsonl and compares with out.jsonl, fed at once and byte by byte.
 * `--update` writes out.jsonl. Ids in the cases name the rule that the line is about.
 */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { CASES_MAX = 64, FILE_MAX_BYTES = 4 << 20 };

static bool update;
static char *cases[CASES_MAX];
static size_t case_count;

static char *read_case(const char *name, const char *file, size_t *ret_len)
{
	cleanup_free char *path = xasprintf("%s/mcp/%s/%s", TEST_DATA, name, file);
	struct err err;
	char *data = fd_read_file(AT_FDCWD, path, FILE_MAX_BYTES, ret_len, &err);

	if (data == NULL)
		fail_msg("%s", err.msg);
	return data;
}

static void write_case(const char *name, const struct buf *out)
{
	cleanup_free char *path = xasprintf("%s/mcp/%s/out.jsonl", TEST_DATA, name);
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err;

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, buf_str(out), out->len, &err), 0);
}

/* Feeds the server `in`, given in pieces of `step` bytes. */
static void play(struct fixture *f, const char *in, size_t len, size_t step)
{
	fixture_start(f, &fixture_features);
	for (size_t at = 0; at < len; at += step)
		mcp_server_feed(f->server, in + at, size_min(step, len - at));
	mcp_server_feed_end(f->server);
	mcp_server_close_listeners(f->server);
}

static void a_transcript_gives_its_output_in_any_chunking(void **state)
{
	static const size_t steps[] = { FILE_MAX_BYTES, 1, 7 };
	const char *name = *state;
	size_t in_len = 0;
	cleanup_free char *in = read_case(name, "in.jsonl", &in_len);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		cleanup_free char *wanted = NULL;
		struct fixture f;
		size_t wanted_len = 0;

		play(&f, in, in_len, steps[i]);
		if (update && i == 0)
			write_case(name, &f.out);
		wanted = read_case(name, "out.jsonl", &wanted_len);
		assert_string_equal(buf_str(&f.out), wanted);
		fixture_end(&f);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_cases(void)
{
	DIR *folder = opendir(TEST_DATA "/mcp");
	struct dirent *entry;

	while (folder != NULL && (entry = readdir(folder)) != NULL && case_count < CASES_MAX)
		if (strchr(entry->d_name, '.') == NULL) /* not the README */
			cases[case_count++] = xstrdup(entry->d_name);
	if (folder != NULL)
		(void)closedir(folder);
	qsort(cases, case_count, sizeof(cases[0]), by_name);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[CASES_MAX];
	int status;

	update = argc > 1 && str_eq(argv[1], "--update");
	find_cases();
	for (size_t i = 0; i < case_count; i++)
		tests[i] = (struct CMUnitTest){
			.name = cases[i],
			.test_func = a_transcript_gives_its_output_in_any_chunking,
			.initial_state = cases[i],
		};
	status = case_count > 0
			 ? _cmocka_run_group_tests("transcripts", tests, case_count, NULL, NULL)
			 : 1;
	for (size_t i = 0; i < case_count; i++)
		free(cases[i]);
	return status;
}
