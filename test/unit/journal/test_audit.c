/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/mem.h"
#include "journal/audit.h"
#include "json/make.h"
#include "scratch.h"

static struct scratch scratch;
static char *path;
static struct err err;

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	path = xasprintf("%s/audit.jsonl", scratch.path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mem_cleanup(&path);
	scratch_release(&scratch);
	return 0;
}

static int append(int number)
{
	cleanup_json json_t *line = json_pack("{s:i}", "v", number);

	return audit_append(path, line, &err);
}

static void lines_are_added_to_a_file_of_mode_0600(void **state)
{
	struct stat st;
	char *text;

	(void)state;
	assert_int_equal(append(1), 0);
	assert_int_equal(append(2), 0);
	text = scratch_read(scratch.fd, "audit.jsonl");
	assert_string_equal(text, "{\"v\":1}\n{\"v\":2}\n");
	free(text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_link_is_not_followed(void **state)
{
	(void)state;
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(append(1), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_false(scratch_exists(scratch.fd, "other"));
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
	int reader;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(append(1), -1);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(append(1), -1);
	assert_int_equal(err.code, ERR_DENIED);
	(void)close(reader);
}

static void a_file_moved_away_is_made_anew(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(append(1), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(append(2), 0);
	text = scratch_read(scratch.fd, "audit.jsonl");
	assert_string_equal(text, "{\"v\":2}\n");
	free(text);
}

static void fill(const char *text)
{
	scratch_write(scratch.fd, "audit.jsonl", text);
}

static void check(const char *text)
{
	char *found = scratch_read(scratch.fd, "audit.jsonl");

	assert_string_equal(found, text);
	free(found);
}

static void a_line_that_a_killed_server_began_is_taken_out(void **state)
{
	(void)state;
	fill("{\"v\":1}\n{\"v\":1,\"seq\":2,\"co");
	assert_int_equal(append(3), 0);
	check("{\"v\":1}\n{\"v\":3}\n");
	fill("{\"v\":1,\"seq\":2,\"co");
	assert_int_equal(append(3), 0);
	check("{\"v\":3}\n");
}

static void what_else_has_no_end_gets_one(void **state)
{
	(void)state;
	fill("notes of the user");
	assert_int_equal(append(1), 0);
	check("notes of the user\n{\"v\":1}\n");
}

static void a_line_that_does_not_fit_leaves_nothing(void **state)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit before;
	struct rlimit limit;

	(void)state;
	fill("{\"v\":1}\n");
	(void)sigaction(SIGXFSZ, &ignore, NULL);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 12;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(append(2), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err.code, ERR_SYSTEM);
	check("{\"v\":1}\n");
}

/* The lock is another server's, which does not give it back. */
static void a_line_waits_for_no_lock_for_ever(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(append(1), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(append(2), -1);
	(void)close(fd);
	assert_int_equal(append(3), 0);
	check("{\"v\":1}\n{\"v\":3}\n");
}

#define AUDIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AUDIT_TEST(lines_are_added_to_a_file_of_mode_0600),
		AUDIT_TEST(a_link_is_not_followed),
		AUDIT_TEST(what_is_no_regular_file_is_refused_without_waiting),
		AUDIT_TEST(a_file_moved_away_is_made_anew),
		AUDIT_TEST(a_line_that_a_killed_server_began_is_taken_out),
		AUDIT_TEST(what_else_has_no_end_gets_one),
		AUDIT_TEST(a_line_that_does_not_fit_leaves_nothing),
		AUDIT_TEST(a_line_waits_for_no_lock_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
