/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/rootfs/protect_config.h"
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

/* The reads of folders fail from this one on; -1: none. */
static int bad_from = -1;

struct dirent *readdir(DIR *dirp)
{
	static struct dirent *(*real)(DIR *);

	if (bad_from == 0) {
		errno = EIO;
		return NULL;
	}
	if (bad_from > 0)
		bad_from--;
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	return real(dirp);
}

static void add(void *data, const char *path)
{
	struct fixture *fixture = data;

	buf_putf(&fixture->found, "%s ", path + strlen(fixture->scratch.path));
}

/* Compares the names that this config of the top repository names. */
static void assert_named(struct fixture *fixture, const char *config, const char *expected)
{
	cleanup_free char *path = xasprintf("%s/.git/config", fixture->scratch.path);
	cleanup_free char *other = xasprintf("%s/other", fixture->scratch.path);
	struct protect_config named;
	struct err err;

	buf_clear(&fixture->found);
	make(fixture, ".git/config", config);
	protect_config_begin(&named, fixture->scratch.path, add, fixture);
	protect_config_add_workplace(&named, fixture->scratch.path);
	protect_config_add_workplace(&named, other);
	protect_config_read(&named, path);
	assert_int_equal(protect_config_end(&named, &err), 0);
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

static void link_to(struct fixture *fixture, const char *to, const char *path)
{
	assert_int_equal(symlinkat(to, fixture->scratch.fd, path), 0);
}

/* Compares the names that are held with this name at the top. */
static void assert_held(struct fixture *fixture, const char *name, const char *expected)
{
	cleanup_free char *path = xasprintf("%s/%s", fixture->scratch.path, name);
	struct protect_config named;
	struct err err;

	buf_clear(&fixture->found);
	protect_config_begin(&named, fixture->scratch.path, add, fixture);
	protect_config_add_name(&named, path);
	assert_int_equal(protect_config_end(&named, &err), 0);
	assert_string_equal(buf_str(&fixture->found), expected);
}

static void links_that_cannot_be_read_are_no_silent_loss(void **state)
{
	struct fixture *fixture = *state;
	cleanup_free char *path = xasprintf("%s/a", fixture->scratch.path);
	struct protect_config named;
	struct err err;

	make(fixture, "a", NULL);
	make(fixture, "file", "x");
	link_to(fixture, "../file", "a/link");
	for (int good = 0; good < 4; good++) {
		protect_config_begin(&named, fixture->scratch.path, add, fixture);
		protect_config_add_name(&named, path);
		bad_from = good;
		assert_int_equal(protect_config_end(&named, &err), -1);
		bad_from = -1;
		assert_int_equal(err.code, ERR_SYSTEM);
		assert_int_equal(err.sys, EIO);
	}
}

static void a_name_is_held_with_all_links_on_its_way(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, "a", NULL);
	make(fixture, "a/b", NULL);
	make(fixture, "a/b/file", "x");
	link_to(fixture, "a", "to-a");
	link_to(fixture, "to-a/./b", "to-b");
	link_to(fixture, "../../to-a/b/file", "a/b/link");
	link_to(fixture, "/etc/passwd", "out");
	link_to(fixture, ".", "top");
	link_to(fixture, "round", "round");
	link_to(fixture, "none", "dangling");
	assert_held(fixture, "to-b", "/to-b /to-a /a/b /a/b/link /to-a /a/b/file ");
	assert_held(fixture, "a", "");
	assert_held(fixture, "out", "/out ");
	assert_held(fixture, "top", "/top ");
	assert_held(fixture, "dangling", "/dangling ");
	assert_held(fixture, "none", "");
	link_to(fixture, "../other/g", "a/.git");
	make(fixture, "other", NULL);
	make(fixture, "other/g", NULL);
	assert_held(fixture, "a/.git", "/a/.git ");
}

static void files_that_commands_name_are_looked_for_wherever_git_is_called(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, "tools", NULL);
	make(fixture, "tools/run", "x");
	make(fixture, "other", NULL);
	make(fixture, "other/run", "x");
	link_to(fixture, "../tools/run", "other/it");
	assert_named(fixture, "[filter \"x\"]\nclean = sh tools/run --tools\nsmudge = ./run\n",
		     "/tools/run /other/run ");
	assert_named(fixture, "[core]\nfsmonitor = ./it x\n", "/other/it /tools/run ");
	assert_named(fixture, "[alias]\nx = !tools/run\n", "");
}

static void of_a_folder_where_git_is_called_only_hooks_are_named(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, "other", NULL);
	make(fixture, "other/update", "x");
	make(fixture, "other/make", "x");
	make(fixture, "pre-commit", "x");
	link_to(fixture, "make", "other/pre-push");
	assert_named(fixture, "[core]\nhooksPath = .\n",
		     "/pre-commit /other/pre-push /other/make /other/update ");
	assert_named(fixture, "[core]\nhooksPath = other/..\n", "/pre-commit ");
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

static void more_names_than_there_is_room_for_are_no_silent_loss(void **state)
{
	static const char *const keys[] = { "hooksPath", "fsmonitor" };
	struct fixture *fixture = *state;
	cleanup_free char *path = xasprintf("%s/.git/config", fixture->scratch.path);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
		struct protect_config named;
		struct err err;

		for (int number = 0; number < 100; number++)
			buf_putf(&text, "[core]\n%s = %0200d\n", keys[i], number);
		make(fixture, ".git/config", buf_str(&text));
		protect_config_begin(&named, fixture->scratch.path, add, fixture);
		protect_config_read(&named, path);
		assert_int_equal(protect_config_end(&named, &err), -1);
		assert_non_null(strstr(err.msg, "name more hooks and programs"));
	}
}

/* Reads a config of this length, whose last line includes another one. */
static int read_long(struct fixture *fixture, size_t size, struct err *err)
{
	static const char last[] = "\n[include]\npath = ../conf\n";
	cleanup_free char *path = xasprintf("%s/.git/config", fixture->scratch.path);
	cleanup_free char *text = xcalloc(1, size + 1);
	struct protect_config named;

	(void)memset(text, '#', size);
	(void)memcpy(text + size - strlen(last), last, strlen(last));
	make(fixture, ".git/config", text);
	buf_clear(&fixture->found);
	protect_config_begin(&named, fixture->scratch.path, add, fixture);
	protect_config_read(&named, path);
	return protect_config_end(&named, err);
}

static void a_config_that_is_too_long_is_no_silent_loss(void **state)
{
	struct fixture *fixture = *state;
	struct err err;

	make(fixture, "conf", "");
	assert_int_equal(read_long(fixture, PROTECT_CONFIG_MAX, &err), 0);
	assert_string_equal(buf_str(&fixture->found), "/conf ");
	assert_int_equal(read_long(fixture, PROTECT_CONFIG_MAX + 1, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "a config of git there is longer than 256 KB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(configs_that_are_included_are_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(includes_in_a_circle_end, setup, teardown),
		cmocka_unit_test_setup_teardown(
			folders_of_hooks_are_looked_for_wherever_git_is_called, setup, teardown),
		cmocka_unit_test_setup_teardown(links_that_cannot_be_read_are_no_silent_loss, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_name_is_held_with_all_links_on_its_way, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			files_that_commands_name_are_looked_for_wherever_git_is_called, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			of_a_folder_where_git_is_called_only_hooks_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(no_folder_of_hooks_is_above_where_git_is_called,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			more_names_than_there_is_room_for_are_no_silent_loss, setup, teardown),
		cmocka_unit_test_setup_teardown(a_config_that_is_too_long_is_no_silent_loss, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
