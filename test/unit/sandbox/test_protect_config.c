/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/protect_config.h"
#include "scratch.h"

struct fixture {
	struct scratch scratch; /* the share */
	struct buf found;
};

static void make(struct fixture *fixture, const char *path, const char *text)
{
	if (text == NULL)
		assert_int_equal(mkdirat(fixture->scratch.fd, path, 0755), 0);
	else
		scratch_write(fixture->scratch.fd, path, text);
}

static int setup(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	scratch_init(&fixture->scratch);
	buf_init(&fixture->found, BUF_UNBOUNDED);
	make(fixture, ".git", NULL);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	scratch_release(&fixture->scratch);
	buf_release(&fixture->found);
	free(fixture);
	return 0;
}

static void add(void *data, const char *path)
{
	struct fixture *fixture = data;

	buf_putf(&fixture->found, "%s ", path + strlen(fixture->scratch.path));
}

/* What this config of the repository at the top names. */
static void assert_named(struct fixture *fixture, const char *config, const char *expected)
{
	cleanup_free char *path = xasprintf("%s/.git/config", fixture->scratch.path);
	cleanup_free char *other = xasprintf("%s/other", fixture->scratch.path);
	struct protect_config named;

	buf_clear(&fixture->found);
	make(fixture, ".git/config", config);
	protect_config_begin(&named, fixture->scratch.path, add, fixture);
	protect_config_add_workplace(&named, fixture->scratch.path);
	protect_config_add_workplace(&named, other);
	protect_config_read(&named, path);
	protect_config_end(&named);
	assert_string_equal(buf_str(&fixture->found), expected);
}

static void configs_that_are_included_are_named(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, "conf", NULL);
	make(fixture, "conf/one", "[include]\npath = two\n");
	make(fixture, "conf/two", "[core]\n");
	assert_named(fixture, "[include]\npath = ../conf/one\n", "/conf/one /conf/two ");
	assert_named(fixture, "[include] path = ../conf/two\n", "/conf/two ");
	assert_named(fixture, "[includeIf \"onbranch:x\"]\npath = ../conf/two\n", "/conf/two ");
	assert_named(fixture, "[include]\npath = ../conf/none\npath = /etc/passwd\n", "");
}

static void includes_in_a_circle_end(void **state)
{
	static const char named[] = "/loop ";
	struct fixture *fixture = *state;
	cleanup_buf struct buf expected = BUF_INIT(BUF_UNBOUNDED);

	for (int i = 0; i <= 10; i++) /* git's depth */
		buf_puts(&expected, named);
	make(fixture, "loop", "[include]\npath = loop\n");
	assert_named(fixture, "[include]\npath = ../loop\n", buf_str(&expected));
}

static void folders_of_hooks_are_looked_for_wherever_git_is_called(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, "hooks", NULL);
	make(fixture, "other", NULL);
	make(fixture, "other/hooks", NULL);
	make(fixture, ".husky", NULL);
	make(fixture, ".husky/_", NULL);
	assert_named(fixture, "[core]\nhooksPath = hooks/\nhooksPath = hooks\n",
		     "/hooks /other/hooks ");
	assert_named(fixture, "[core]\nhookspath = .husky/_\n", "/.husky ");
	assert_named(fixture, "[core]\nhooksPath = none\n", "");
	assert_named(fixture, "[other]\nhooksPath = hooks\n", "");
}

static void no_folder_of_hooks_is_above_where_git_is_called(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, "other", NULL);
	assert_named(fixture, "[core]\nhooksPath = .\n", "");
	assert_named(fixture, "[core]\nhooksPath = ..\n", "");
	assert_named(fixture, "[core]\nhooksPath = /\n", "");
	assert_named(fixture, "[core]\nhooksPath = /usr/bin\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(configs_that_are_included_are_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(includes_in_a_circle_end, setup, teardown),
		cmocka_unit_test_setup_teardown(
			folders_of_hooks_are_looked_for_wherever_git_is_called, setup, teardown),
		cmocka_unit_test_setup_teardown(no_folder_of_hooks_is_above_where_git_is_called,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
