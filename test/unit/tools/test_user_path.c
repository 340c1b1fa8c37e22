/* SPDX-License-Identifier: MIT */
/* test_user_path.c - the forms of a path, on a machine with and without WSL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tools/user_path.h"

static char *environment[] = { (char[]){ "HOME=/home/me" }, (char[]){ "WSL_DISTRO_NAME=Ubuntu" },
			       NULL };

struct row {
	const char *text;
	const char *plain; /* NULL: refused */
	const char *wsl;
};

static const struct row rows[] = {
	{ "/home/me/a b.csv", "/home/me/a b.csv", "/home/me/a b.csv" },
	{ "\"/home/me/a b.csv\"", "/home/me/a b.csv", "/home/me/a b.csv" },
	{ "~", "/home/me", "/home/me" },
	{ "~/data/x.csv", "/home/me/data/x.csv", "/home/me/data/x.csv" },
	{ "~other/x.csv", NULL, NULL },
	{ "x.csv", NULL, NULL },
	{ "../x.csv", NULL, NULL },
	{ "", NULL, NULL },
	{ "\"", NULL, NULL },
	{ "file:///home/me/a%20b.csv", "/home/me/a b.csv", "/home/me/a b.csv" },
	{ "file://localhost/home/me/x.csv", "/home/me/x.csv", "/home/me/x.csv" },
	{ "FILE:///x?query#part", "/x", "/x" },
	{ "file:///a%00b", NULL, NULL },
	{ "file://server/share/x", NULL, NULL },
	{ "file:x", NULL, NULL },
	{ "C:\\Users\\me\\x.csv", NULL, "/drives/c/Users/me/x.csv" },
	{ "\"C:\\Users\\me\\a b.csv\"", NULL, "/drives/c/Users/me/a b.csv" },
	{ "d:/x.csv", NULL, "/drives/d/x.csv" },
	{ "file:///C:/Users/me/a%20b.csv", NULL, "/drives/c/Users/me/a b.csv" },
	{ "file://localhost/C:/x.csv", NULL, "/drives/c/x.csv" },
	{ "C:x.csv", NULL, NULL },
	{ "\\\\wsl.localhost\\Ubuntu\\home\\me\\x.csv", NULL, "/home/me/x.csv" },
	{ "\\\\wsl$\\ubuntu\\home\\me\\x.csv", NULL, "/home/me/x.csv" },
	{ "file://wsl.localhost/Ubuntu/home/me/x.csv", NULL, "/home/me/x.csv" },
	{ "\\\\wsl$\\Debian\\home\\me\\x.csv", NULL, NULL },
	{ "\\\\server\\share\\x.csv", NULL, NULL },
	{ "https://example.org/x.csv", NULL, NULL },
};

static void expect(const struct user_path_machine *machine, const char *text, const char *expected)
{
	struct err err = { 0 };
	char *path = user_path_read(machine, text, &err);

	print_message("%s\n", text);
	if (expected == NULL) {
		assert_null(path);
		assert_int_equal(err.code, ERR_INVALID);
		return;
	}
	if (path == NULL)
		fail_msg("refused: %s", err.msg);
	assert_string_equal(path, expected);
	mem_cleanup(&path);
}

static void every_form_gives_an_absolute_path(void **state)
{
	struct user_path_machine wsl = { .environment = environment,
					 .uid = 1000,
					 .wsl = true,
					 .drives = (char[]){ "/drives" } };
	struct user_path_machine linux_only = { .environment = (char *[]){ environment[0], NULL },
						.uid = 1000,
						.drives = (char[]){ "/mnt" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		expect(&linux_only, rows[i].text, rows[i].plain);
		expect(&wsl, rows[i].text, rows[i].wsl);
	}
}

static const struct {
	const char *conf;
	const char *drives;
} confs[] = {
	{ "", "/mnt" },
	{ "[automount]\nroot = /windir/\n", "/windir" },
	{ "[AutoMount]\r\nenabled=true\r\nROOT=/w\r\n", "/w" },
	{ "[automount]\nroot=\"/my drives\"", "/my drives" },
	{ "[automount]\nroot = /", "" },
	{ "[automount]\nroot=relative\n", "/mnt" },
	{ "[network]\nroot=/no\n[automount]\nroots=/no\n#root=/no\nroot\n", "/mnt" },
	{ "root=/no", "/mnt" },
};

static void drives_are_where_wsl_conf_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(confs); i++) {
		char *drives = user_path_drives(confs[i].conf);

		print_message("%s\n", confs[i].conf);
		assert_string_equal(drives, confs[i].drives);
		mem_cleanup(&drives);
	}
}

static void a_machine_is_wsl_when_its_environment_says_so(void **state)
{
	struct user_path_machine machine;

	(void)state;
	user_path_inspect(&machine, environment);
	assert_true(machine.wsl);
	assert_non_null(machine.drives);
	user_path_release(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_gives_an_absolute_path),
		cmocka_unit_test(drives_are_where_wsl_conf_says),
		cmocka_unit_test(a_machine_is_wsl_when_its_environment_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
