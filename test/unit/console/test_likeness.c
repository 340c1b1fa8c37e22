/* SPDX-License-Identifier: MIT */
/* Servers are alike if nothing that ptycell reads differs, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "console/likeness.h"
#include "literals.h"
#include "scratch.h"

enum { ROOM = 256 };

static struct {
	struct scratch scratch;
	char base[LIKENESS_LEN + 1]; /* of HOME=/h and PATH=/bin, without arguments */
} f;

static void make(char *const *env, char *const *argv, char text[LIKENESS_LEN + 1])
{
	int argc = 0;
	struct settings *settings;

	while (argv[argc] != NULL)
		argc++;
	settings = settings_load(argc, argv, env);
	likeness_make(settings, argv, text);
	settings_free(settings);
}

static int set_up(void **state)
{
	(void)state;
	scratch_init(&f.scratch);
	make(LIST("HOME=/h", "PATH=/bin"), LIST(NULL), f.base);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_release(&f.scratch);
	return 0;
}

static void test_what_ptycell_does_not_read_makes_no_difference(void **state)
{
	char text[LIKENESS_LEN + 1];

	(void)state;
	assert_int_equal(strlen(f.base), LIKENESS_LEN);
	make(LIST("PATH=/bin", "SHLVL=2", "XDG_SESSION_ID=4", "HOME=/h"), LIST(NULL), text);
	assert_string_equal(text, f.base);
}

static void test_variables_that_npm_names_make_a_difference(void **state)
{
	cleanup_free char *home = xasprintf("HOME=%s", f.scratch.path);
	char one[LIKENESS_LEN + 1];
	char two[LIKENESS_LEN + 1];

	(void)state;
	scratch_write(f.scratch.fd, ".npmrc", "//host/:_authToken=${TOKEN}\n${cut");
	make(LIST(home, "PATH=/bin", "TOKEN=a"), LIST(NULL), one);
	make(LIST(home, "PATH=/bin", "TOKEN=b"), LIST(NULL), two);
	assert_string_not_equal(one, two);
	make(LIST(home, "PATH=/bin", "TOKEN=a", "OTHER=b"), LIST(NULL), two);
	assert_string_equal(one, two);
}

static void test_each_setting_makes_a_difference(void **state)
{
	char *const rows[] = {
		(char[]){ "PTYCELL_SPARES=1" },
		(char[]){ "PTYCELL_ENV_A=1" },
		(char[]){ "PTYCELL_SECRET_KEY=abc" },
		(char[]){ "EXEC_TIMEOUT=9" },
		(char[]){ "VIRTUAL_ENV=/v" },
		(char[]){ "PIP_INDEX_URL=https://i" },
		(char[]){ "PTYCELL_HOME=/other" },
		(char[]){ "TZ=UTC" },
		(char[]){ "HTTPS_PROXY=http://p:1" },
		(char[]){ "http_proxy=http://p:1" },
		(char[]){ "NO_PROXY=*" },
		(char[]){ "SSL_CERT_FILE=/c.pem" },
	};
	char text[LIKENESS_LEN + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make(LIST("HOME=/h", "PATH=/bin", rows[i]), LIST(NULL), text);
		if (strcmp(text, f.base) == 0)
			fail_msg("%s", rows[i]);
	}
	make(LIST("HOME=/h", "PATH=/bin"), LIST("--spares=1"), text);
	assert_string_not_equal(text, f.base);
}

static void test_the_working_folder_makes_a_difference(void **state)
{
	cleanup_fd int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[LIKENESS_LEN + 1];

	(void)state;
	assert_int_equal(fchdir(f.scratch.fd), 0);
	make(LIST("HOME=/h", "PATH=/bin"), LIST(NULL), text);
	assert_int_equal(fchdir(here), 0);
	assert_string_not_equal(text, f.base);
}

/* Writes the file and makes the likeness of a server that has it by this flag. */
static void make_with_file(const char *flag, const char *content, char text[LIKENESS_LEN + 1])
{
	char argument[ROOM];
	struct err err;

	assert_int_equal(fd_replace_file(f.scratch.fd, "file", content, &err), 0);
	(void)snprintf(argument, sizeof(argument), "%s=%s/file", flag, f.scratch.path);
	make(LIST("HOME=/h"), LIST(argument), text);
}

static void test_the_content_of_files_makes_a_difference(void **state)
{
	char one[LIKENESS_LEN + 1];
	char same[LIKENESS_LEN + 1];
	char other[LIKENESS_LEN + 1];

	(void)state;
	make_with_file("--policy", "{}", one);
	make_with_file("--policy", "{}", same);
	make_with_file("--policy", "{ }", other);
	assert_string_equal(one, same);
	assert_string_not_equal(one, other);
	make_with_file("--env-file", "PTYCELL_SPARES=1\n", one);
	make_with_file("--env-file", "PTYCELL_SPARES=2\n", other);
	assert_string_not_equal(one, other);
}

static void test_a_variable_that_a_file_names_makes_a_difference(void **state)
{
	char file[ROOM];
	char one[LIKENESS_LEN + 1];
	char other[LIKENESS_LEN + 1];
	struct err err;

	(void)state;
	assert_int_equal(fd_replace_file(f.scratch.fd, "file", "PTYCELL_ENV_A=${OWN}\n", &err), 0);
	(void)snprintf(file, sizeof(file), "--env-file=%s/file", f.scratch.path);
	make(LIST("HOME=/h", "OWN=1"), LIST(file), one);
	make(LIST("HOME=/h", "OWN=2"), LIST(file), other);
	assert_string_not_equal(one, other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_ptycell_does_not_read_makes_no_difference),
		TEST(test_variables_that_npm_names_make_a_difference),
		TEST(test_each_setting_makes_a_difference),
		TEST(test_the_working_folder_makes_a_difference),
		TEST(test_the_content_of_files_makes_a_difference),
		TEST(test_a_variable_that_a_file_names_makes_a_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
