/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
	cleanup_json json_t *line = json_pack("{s:i}", "cell", number);

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
	assert_string_equal(text, "{\"cell\":1}\n{\"cell\":2}\n");
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
	assert_string_equal(text, "{\"cell\":2}\n");
	free(text);
}

#define AUDIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AUDIT_TEST(lines_are_added_to_a_file_of_mode_0600),
		AUDIT_TEST(a_link_is_not_followed),
		AUDIT_TEST(what_is_no_regular_file_is_refused_without_waiting),
		AUDIT_TEST(a_file_moved_away_is_made_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
