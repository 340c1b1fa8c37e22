/* SPDX-License-Identifier: MIT */
/* The programs that ask for packages, as they are put into a session's folder. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runner/session_programs.h"
#include "session_fixture.h"

static struct workspace *workspace;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	fixture_open();
	workspace = workspace_new(fixture.home, &err);
	return workspace != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	workspace_free(workspace);
	fixture_close();
	return 0;
}

/* Gives the machine these two interpreters; NULL: the machine has none. */
static void set_interpreters(const char *python, const char *node)
{
	static char *environment[3];
	static char strings[2][64];

	(void)snprintf(strings[0], sizeof(strings[0]), "PTYCELL_PYTHON=%s",
		       python != NULL ? python : "/nowhere");
	(void)snprintf(strings[1], sizeof(strings[1]), "PTYCELL_NODE=%s",
		       node != NULL ? node : "/nowhere");
	environment[0] = strings[0];
	environment[1] = strings[1];
	fixture.settings.environment = environment;
}

static bool has(const char *path)
{
	return faccessat(workspace_packages_fd(workspace), path, F_OK, 0) == 0;
}

static void a_session_has_programs_of_the_interpreters_that_there_are(void **state)
{
	char data[PATH_MAX] = "";

	(void)state;
	set_interpreters("/bin/sh", NULL);
	session_programs_write(fixture.host.confinement, workspace);
	assert_true(has(ASK_FOLDER "/bin/pip"));
	assert_false(has(ASK_FOLDER "/bin/npm"));
	assert_true(readlinkat(workspace_packages_fd(workspace), ASK_FOLDER "/data", data,
			       sizeof(data) - 1) > 0);
	assert_string_equal(data, workspace_data_path(workspace));
	set_interpreters(NULL, "/bin/sh"); /* in a later sandbox of the same session */
	session_programs_write(fixture.host.confinement, workspace);
	assert_true(has(ASK_FOLDER "/bin/npm"));
}

static void a_folder_that_is_gone_ends_nothing(void **state)
{
	(void)state;
	assert_int_equal(unlinkat(workspace_packages_fd(workspace), ASK_FOLDER, AT_REMOVEDIR), 0);
	session_programs_write(fixture.host.confinement, workspace);
	assert_false(has(ASK_FOLDER));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_has_programs_of_the_interpreters_that_there_are),
		TEST(a_folder_that_is_gone_ends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
