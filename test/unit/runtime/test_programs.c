/* SPDX-License-Identifier: MIT */
/* The programs that ask for packages, as they lie in a session's folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "runtime/programs.h"
#include "scratch.h"

static struct scratch scratch;

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_release(&scratch);
	return 0;
}

static void each_language_has_its_own(void **state)
{
	const struct programs_spec spec = { .data = "/mnt/data", .python = "/o'py/python3" };
	cleanup_free char *script = NULL;
	char target[100] = "";
	struct stat written;
	struct stat linked;
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) /* the second time in the place of the first */
		if (programs_write(scratch.fd, &spec, &err) < 0)
			fail_msg("%s", err.msg);
	script = scratch_read(scratch.fd, "python");
	assert_non_null(strstr(script, "exec '/o'\\''py/python3' -I "));
	assert_int_equal(fstatat(scratch.fd, "python", &written, 0), 0);
	assert_int_equal(fstatat(scratch.fd, "bin/pip3", &linked, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(linked.st_ino, written.st_ino);
	assert_int_equal(faccessat(scratch.fd, "bin/pip", X_OK, 0), 0);
	assert_int_equal(faccessat(scratch.fd, "modules/pip/__main__.py", R_OK, 0), 0);
	assert_int_equal(readlinkat(scratch.fd, "data", target, sizeof(target) - 1), 9);
	assert_int_equal(faccessat(scratch.fd, "bin/npm", F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

static void a_machine_with_node_alone_has_npm_alone(void **state)
{
	const struct programs_spec spec = { .data = "/mnt/data", .node = "/usr/bin/node" };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(programs_write(scratch.fd, &spec, &err), 0);
	assert_int_equal(faccessat(scratch.fd, "bin/npx", X_OK, 0), 0);
	assert_int_equal(faccessat(scratch.fd, "npm.cjs", R_OK, 0), 0);
	assert_int_equal(faccessat(scratch.fd, "bin/pip", F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

static void what_is_in_the_way_is_an_error(void **state)
{
	static const char *const names[] = { "data",
					     "bin",
					     "python",
					     "modules/pip/__main__.py",
					     "modules/pip/__init__.py",
					     "bin/pip",
					     "npm.cjs",
					     "profile.R" };
	const struct programs_spec spec = { .data = "/d", .python = "/p", .node = "/n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct scratch own;
		struct err err = { 0 };

		scratch_init(&own);
		assert_int_equal(programs_write(own.fd, &spec, &err), 0);
		if (strcmp(names[i], "bin") != 0) {
			assert_int_equal(unlinkat(own.fd, names[i], 0), 0);
			assert_int_equal(mkdirat(own.fd, names[i], 0700), 0);
		} else {
			assert_int_equal(renameat(own.fd, "bin", own.fd, "gone"), 0);
			assert_int_equal(symlinkat("nowhere", own.fd, "bin"), 0);
		}
		assert_int_equal(programs_write(own.fd, &spec, &err), -1);
		assert_non_null(strstr(err.msg, "making the"));
		scratch_release(&own);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_language_has_its_own),
		TEST(a_machine_with_node_alone_has_npm_alone),
		TEST(what_is_in_the_way_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
