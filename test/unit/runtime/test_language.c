/* SPDX-License-Identifier: MIT */
#include <ftw.h>
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

#include "base/mem.h"
#include "runtime/frame.h"
#include "runtime/language.h"

enum { ENV_MAX = 8 };

static char root[] = "/tmp/ptycell-language-XXXXXX";
static char *env[ENV_MAX + 1];
static size_t env_count;

static int make_root(void **state)
{
	(void)state;
	memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
	return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	while (env_count > 0) {
		free(env[--env_count]);
		env[env_count] = NULL;
	}
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_file(const char *path, mode_t mode, const char *text)
{
	cleanup_free char *full = xasprintf("%s/%s", root, path);
	FILE *f;

	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(full, mode), 0);
}

static void make_program(const char *path)
{
	make_file(path, 0755, "#!/bin/sh\n");
}

/* `value` has an R for the test's folder. */
static void set_env(const char *name, const char *value)
{
	struct buf out;

	assert_true(env_count < ENV_MAX);
	buf_init(&out, BUF_UNBOUNDED);
	buf_putf(&out, "%s=", name);
	for (; *value != '\0'; value++)
		*value == 'R' ? buf_puts(&out, root) : buf_put(&out, value, 1);
	env[env_count++] = buf_steal(&out);
}

static void expect_found_of(const char *language, const char *path, const char *reason)
{
	cleanup_free char *full = xasprintf("%s/%s", root, path);
	struct interpreter_path at = { 0 };
	struct err err = { 0 };

	if (language_locate(language_find(language), env, &at, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(at.path, full);
	assert_string_equal(at.reason, reason);
	locate_release(&at);
	assert_null(at.path);
}

static void expect_found(const char *path, const char *reason)
{
	expect_found_of("python", path, reason);
}

static void expect_missing(const char *hint)
{
	struct interpreter_path at = { 0 };
	struct err err = { 0 };

	assert_int_equal(language_locate(language_find("python"), env, &at, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.msg, hint));
	assert_null(at.path);
}

static void names_and_aliases_are_found_in_any_case(void **state)
{
	(void)state;
	assert_ptr_equal(language_find("Python"), language_at(0));
	assert_ptr_equal(language_find("PYTHON3"), language_at(0));
	assert_ptr_equal(language_find("py"), language_at(0));
	assert_null(language_find("cobol"));
	assert_null(language_find(""));
	assert_null(language_at(99));
}

static const struct buf none;

/* Both parts of Python's first frame; frame_reader_free() frees it. */
static struct frame_reader *read_boot(const struct buf *compiled, const struct frame **ret_frame)
{
	struct frame_reader *reader = frame_reader_new(FRAME_UP_PART_MAX);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	language_find("python")->boot(&out, compiled);
	frame_reader_feed(reader, out.data, out.len);
	assert_int_equal(frame_reader_next(reader, ret_frame, &err), 1);
	assert_string_equal((*ret_frame)->type, "boot");
	assert_string_equal((*ret_frame)->parts[0].name, "marshal");
	assert_string_equal((*ret_frame)->parts[1].name, "source");
	return reader;
}

static void pythons_boot_frame_holds_the_driver_twice(void **state)
{
	const struct frame *frame = NULL;
	struct frame_reader *reader = read_boot(&none, &frame);

	(void)state;
	assert_int_equal(frame->id, 0);
	assert_true(frame->parts[0].len > 0);
	assert_true(frame->parts[1].len > 0);
	assert_false(frame_reader_pending(reader));
	frame_reader_free(reader);
}

static void pythons_boot_frame_holds_what_the_interpreter_compiled(void **state)
{
	const struct language *python = language_find("python");
	const struct buf compiled = { .data = (char[]){ "code" }, .len = 4 };
	const struct frame *frame = NULL;
	struct frame_reader *reader = read_boot(&compiled, &frame);

	(void)state;
	assert_int_equal(frame->parts[0].len, 4);
	assert_memory_equal(frame->parts[0].data, "code", 4);
	frame_reader_free(reader);
	assert_true(python->driver_id() == python->driver_id());
	assert_true(python->driver_id() != 0);
}

static void pythons_arguments_are_the_stub(void **state)
{
	const char *const *argv = language_find("python")->arguments();

	(void)state;
	assert_string_equal(argv[0], "-c");
	assert_non_null(strstr(argv[1], "import"));
	assert_null(argv[2]);
}

static void javascripts_boot_frame_holds_the_drivers_parts(void **state)
{
	const struct language *node = language_find("javascript");
	struct frame_reader *reader = frame_reader_new(FRAME_UP_PART_MAX);
	const struct frame *frame = NULL;
	cleanup_buf struct buf out;
	struct err err;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	node->boot(&out, &none);
	frame_reader_feed(reader, out.data, out.len);
	assert_int_equal(frame_reader_next(reader, &frame, &err), 1);
	assert_string_equal(frame->type, "boot");
	assert_int_equal(frame->part_count, 4);
	for (size_t i = 0; i < frame->part_count; i++)
		assert_true(frame->parts[i].len > 0);
	assert_false(frame_reader_pending(reader));
	frame_reader_free(reader);
	assert_string_equal(node->arguments()[0], "-e");
	assert_null(node->arguments()[2]);
}

static void javascript_has_a_descriptor_for_interrupts(void **state)
{
	const struct language *node = language_find("TypeScript");

	(void)state;
	assert_ptr_equal(node, language_find("js"));
	assert_int_equal(node->descriptor_count, 2);
	assert_string_equal(node->descriptors[1].name, "interrupt");
	assert_int_equal(node->descriptors[1].kind, LANGUAGE_PIPE_IN);
}

static void the_first_on_path_is_taken(void **state)
{
	(void)state;
	make_program("a/python");
	make_program("b/python3");
	make_program("c/python3");
	set_env("PATH", "R/none:R/a:R/b:R/c");
	expect_found("b/python3", "PATH");
}

static void the_second_command_serves_when_the_first_is_nowhere(void **state)
{
	(void)state;
	make_program("a/python");
	set_env("PATH", "R/none:R/a");
	expect_found("a/python", "PATH");
}

static void relative_entries_folders_and_plain_files_do_not_count(void **state)
{
	(void)state;
	make_file("a/python3", 0644, "");
	make_program("b/python3/inner");
	make_program("c/python3");
	set_env("PATH", ":.:bin:R/a::R/b:R/c");
	expect_found("c/python3", "PATH");
}

static void an_override_wins_over_everything(void **state)
{
	(void)state;
	make_program("venv/bin/python");
	make_program("a/python3");
	make_program("own/python3.11");
	set_env("PATH", "R/a");
	set_env("VIRTUAL_ENV", "R/venv");
	set_env("PTYCELL_PYTHON", "R/own/python3.11");
	expect_found("own/python3.11", "PTYCELL_PYTHON");
}

static void an_override_may_name_a_command(void **state)
{
	(void)state;
	make_program("a/python3");
	make_program("b/python3.12");
	set_env("PATH", "R/a:R/b");
	set_env("PTYCELL_PYTHON", "python3.12");
	expect_found("b/python3.12", "PTYCELL_PYTHON");
}

static void a_wrong_override_is_an_error_not_a_fallback(void **state)
{
	(void)state;
	make_program("a/python3");
	set_env("PATH", "R/a");
	set_env("PTYCELL_PYTHON", "R/gone");
	expect_missing("PTYCELL_PYTHON is '");
}

static void a_relative_override_is_an_error(void **state)
{
	(void)state;
	set_env("PTYCELL_PYTHON", "bin/python3");
	expect_missing("absolute");
}

static void a_virtual_environment_comes_before_path(void **state)
{
	(void)state;
	make_program("venv/bin/python");
	make_program("a/python3");
	set_env("PATH", "R/a");
	set_env("VIRTUAL_ENV", "R/venv");
	expect_found("venv/bin/python", "VIRTUAL_ENV");
}

static void a_removed_virtual_environment_is_passed_over(void **state)
{
	(void)state;
	make_program("a/python3");
	set_env("PATH", "R/a");
	set_env("VIRTUAL_ENV", "R/venv");
	expect_found("a/python3", "PATH");
}

static void nothing_found_says_how_to_get_one(void **state)
{
	(void)state;
	expect_missing("apt install python3");
	set_env("PATH", "R/none");
	expect_missing("PTYCELL_PYTHON");
}

static void make_pyenv(void)
{
	make_program(".pyenv/shims/python3");
	make_program(".pyenv/versions/3.12.1/bin/python3");
	make_program(".pyenv/versions/3.9.18/bin/python3");
	make_program("usr/python3");
	set_env("HOME", "R");
	set_env("PATH", "R/.pyenv/shims:R/usr");
}

static void st06_a_pyenv_shim_is_resolved_by_the_global_file(void **state)
{
	(void)state;
	make_pyenv();
	make_file(".pyenv/version", 0644, "3.12.1\n3.9.18\n");
	expect_found(".pyenv/versions/3.12.1/bin/python3", "pyenv");
}

static void st06_a_shim_is_one_also_where_home_is_another(void **state)
{
	(void)state;
	make_pyenv();
	make_file(".pyenv/version", 0644, "3.12.1\n");
	set_env("HOME", "R/other");
	expect_found(".pyenv/versions/3.12.1/bin/python3", "pyenv");
}

static void st06_pyenv_version_wins_over_the_global_file(void **state)
{
	(void)state;
	make_pyenv();
	make_file(".pyenv/version", 0644, "3.12.1\n");
	set_env("PYENV_VERSION", "3.9.18:3.12.1");
	expect_found(".pyenv/versions/3.9.18/bin/python3", "pyenv");
}

static void st06_a_shim_that_leads_nowhere_is_passed_over(void **state)
{
	(void)state;
	make_pyenv();
	expect_found("usr/python3", "PATH");
	make_file(".pyenv/version", 0644, "system\n");
	expect_found("usr/python3", "PATH");
	make_file(".pyenv/version", 0644, "../../usr\n");
	expect_found("usr/python3", "PATH");
}

static void st06_pyenvs_root_may_be_elsewhere(void **state)
{
	(void)state;
	make_program("opt/pyenv/shims/python3");
	make_program("opt/pyenv/versions/3.13.0/bin/python3");
	make_file("opt/pyenv/version", 0644, "3.13.0\n");
	set_env("PYENV_ROOT", "R/opt/pyenv/");
	set_env("PATH", "R/opt/pyenv/shims/");
	expect_found("opt/pyenv//versions/3.13.0/bin/python3", "pyenv");
}

static void st06_an_asdf_shim_is_resolved(void **state)
{
	(void)state;
	make_program(".asdf/shims/python3");
	make_program(".asdf/installs/python/3.11.7/bin/python3");
	make_file(".tool-versions", 0644, "nodejs 20.1.0\npython 3.11.7 3.10.1\n");
	set_env("HOME", "R");
	set_env("PATH", "R/.asdf/shims");
	expect_found(".asdf/installs/python/3.11.7/bin/python3", "asdf");
}

static void st06_a_mise_shim_is_resolved(void **state)
{
	(void)state;
	make_program(".local/share/mise/shims/python3");
	make_program(".local/share/mise/installs/python/latest/bin/python3");
	make_program(".local/share/mise/installs/python/3.10/bin/python3");
	set_env("HOME", "R");
	set_env("PATH", "R/.local/share/mise/shims");
	expect_found(".local/share/mise/installs/python/latest/bin/python3", "mise");
	set_env("MISE_PYTHON_VERSION", "3.10");
	expect_found(".local/share/mise/installs/python/3.10/bin/python3", "mise");
}

static void st06_nodes_shims_are_resolved(void **state)
{
	(void)state;
	make_program(".volta/bin/node");
	make_program(".volta/tools/image/node/20.11.0/bin/node");
	make_program(".asdf/shims/node");
	make_program(".asdf/installs/nodejs/22.1.0/bin/node");
	make_program(".local/share/mise/shims/node");
	make_program(".local/share/mise/installs/node/latest/bin/node");
	make_program(".nodenv/shims/node");
	make_program(".nodenv/versions/18.20.4/bin/node");
	set_env("HOME", "R");
	set_env("PATH", "R/.volta/bin:R/.asdf/shims:R/.nodenv/shims:R/.local/share/mise/shims");
	expect_found_of("js", ".local/share/mise/installs/node/latest/bin/node", "mise");
	make_file(".nodenv/version", 0644, "18.20.4\n");
	expect_found_of("js", ".nodenv/versions/18.20.4/bin/node", "nodenv");
	make_file(".tool-versions", 0644, "nodejs 22.1.0\n");
	expect_found_of("js", ".asdf/installs/nodejs/22.1.0/bin/node", "asdf");
	make_file(".volta/tools/user/platform.json", 0644,
		  "{\n  \"node\": {\n    \"runtime\": \"20.11.0\",\n    \"npm\": null\n  }\n}");
	expect_found_of("js", ".volta/tools/image/node/20.11.0/bin/node", "volta");
	make_file(".volta/tools/user/platform.json", 0644, "{\"runtime\": \"../../x\"}");
	expect_found_of("js", ".asdf/installs/nodejs/22.1.0/bin/node", "asdf");
}

static void st06_an_override_that_is_a_shim_is_resolved(void **state)
{
	(void)state;
	make_pyenv();
	make_file(".pyenv/version", 0644, "3.12.1\n");
	set_env("PTYCELL_PYTHON", "R/.pyenv/shims/python3");
	expect_found(".pyenv/versions/3.12.1/bin/python3", "pyenv");
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_aliases_are_found_in_any_case),
		cmocka_unit_test(pythons_boot_frame_holds_the_driver_twice),
		cmocka_unit_test(pythons_boot_frame_holds_what_the_interpreter_compiled),
		cmocka_unit_test(pythons_arguments_are_the_stub),
		cmocka_unit_test(javascripts_boot_frame_holds_the_drivers_parts),
		cmocka_unit_test(javascript_has_a_descriptor_for_interrupts),
		folder_test(the_first_on_path_is_taken),
		folder_test(the_second_command_serves_when_the_first_is_nowhere),
		folder_test(relative_entries_folders_and_plain_files_do_not_count),
		folder_test(an_override_wins_over_everything),
		folder_test(an_override_may_name_a_command),
		folder_test(a_wrong_override_is_an_error_not_a_fallback),
		folder_test(a_relative_override_is_an_error),
		folder_test(a_virtual_environment_comes_before_path),
		folder_test(a_removed_virtual_environment_is_passed_over),
		folder_test(nothing_found_says_how_to_get_one),
		folder_test(st06_a_pyenv_shim_is_resolved_by_the_global_file),
		folder_test(st06_a_shim_is_one_also_where_home_is_another),
		folder_test(st06_pyenv_version_wins_over_the_global_file),
		folder_test(st06_a_shim_that_leads_nowhere_is_passed_over),
		folder_test(st06_pyenvs_root_may_be_elsewhere),
		folder_test(st06_an_asdf_shim_is_resolved),
		folder_test(st06_a_mise_shim_is_resolved),
		folder_test(st06_nodes_shims_are_resolved),
		folder_test(st06_an_override_that_is_a_shim_is_resolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
