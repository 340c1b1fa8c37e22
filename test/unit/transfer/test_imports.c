/* SPDX-License-Identifier: MIT */
/* test_imports.c - with shell scripts that say what no program of ours would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "scratch.h"
#include "transfer/imports.h"
#include "workspace/home.h"
#include "workspace/original.h"
#include "workspace/workspace.h"

struct fixture {
	struct scratch scratch;
	struct loop *loop;
	struct home *home;
	struct workspace *workspace;
	struct imports *imports;
	json_t *request;
	char script[128];
	int done;
	int progress;
	uint64_t bytes;
	int64_t total;
	char *path; /* of the last that came */
	char *type;
	char *from;
	char *missed;
	const char *copier; /* of the next one */
	uint64_t original_max;
	uint64_t size;
	struct err err; /* of the last that failed */
};

static void on_progress(void *data, uint64_t bytes, int64_t total)
{
	struct fixture *f = data;

	f->progress++;
	f->bytes = bytes;
	f->total = total;
}

static char *copy(const char *text)
{
	return text != NULL ? xstrdup(text) : NULL;
}

static void on_done(void *data, const struct import_result *result, const struct err *err)
{
	struct fixture *f = data;

	assert_true((result == NULL) != (err == NULL));
	f->done++;
	if (err != NULL)
		f->err = *err;
	if (result == NULL)
		return;
	f->path = copy(result->path);
	f->type = copy(result->type);
	f->from = copy(result->from);
	f->size = result->size;
	f->missed = copy(result->missed);
}

static const struct import_handlers handlers = { .progress = on_progress, .done = on_done };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	char path[128];
	struct err err;

	(void)sigaction(SIGPIPE, &ignore, NULL);
	scratch_init(&f->scratch);
	(void)snprintf(path, sizeof(path), "%s/home", f->scratch.path);
	(void)snprintf(f->script, sizeof(f->script), "%s/program", f->scratch.path);
	f->loop = loop_new(clock_ms, &err);
	f->home = home_open(path, &err);
	assert_non_null(f->home);
	f->workspace = workspace_new(f->home, &err);
	assert_non_null(f->workspace);
	f->imports = imports_new(f->loop);
	f->request = imports_copy_request("x", 1, "x");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	imports_end_folder(f->imports, workspace_name(f->workspace));
	imports_free(f->imports);
	json_decref(f->request);
	workspace_free(f->workspace);
	home_close(f->home);
	loop_free(f->loop);
	free(f->path);
	free(f->type);
	free(f->from);
	free(f->missed);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

/* Begins one with a program of these lines; its file is descriptor 3. */
static struct import *begin(struct fixture *f, const char *lines, const char *filename,
			    struct err *err)
{
	cleanup_free char *text = xasprintf("#!/bin/sh\nread request\n%s\n", lines);
	struct import_spec spec = { .program = f->script,
				    .request = f->request,
				    .argument = "arguments.url",
				    .source_fd = -1,
				    .workspace = f->workspace,
				    .filename = filename,
				    .copier = f->copier,
				    .original_max = f->original_max,
				    .deadline_ms = 600000 };

	scratch_write(f->scratch.fd, "program", text);
	assert_int_equal(fchmodat(f->scratch.fd, "program", 0700, 0), 0);
	return imports_start(f->imports, &spec, &handlers, f, err);
}

static void run(struct fixture *f, const char *lines, const char *filename)
{
	struct err err;
	int before = f->done;

	assert_non_null(begin(f, lines, filename, &err));
	while (f->done == before)
		loop_turn(f->loop, 1000);
	assert_int_equal(f->done, before + 1);
}

/* Of files on their way; beside data, spool and journal. */
static size_t parts_left(const struct fixture *f)
{
	int fd = openat(home_fd(f->home), workspace_name(f->workspace),
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	size_t count = 0;

	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		count += strncmp(entry->d_name, "part-", 5) == 0;
	(void)closedir(dir);
	return count;
}

static bool arrived(const struct fixture *f, const char *path)
{
	return scratch_exists(workspace_data_fd(f->workspace), path);
}

#define RESULT "echo '{\"result\": {\"size\": 999, \"from\": \"there\"}}'"

static void what_comes_is_named_and_measured_here(void **state)
{
	struct fixture *f = *state;

	run(f,
	    "printf hello >&3\n"
	    "echo '{\"progress\": {\"head\": {\"name\": \"a.csv\", \"type\": \"text/csv\", \"total\": 5}}}'\n"
	    "echo '{\"progress\": {\"bytes\": 3}}'\n" RESULT,
	    NULL);
	assert_string_equal(f->path, "input/a.csv");
	assert_string_equal(f->type, "text/csv");
	assert_string_equal(f->from, "there");
	assert_int_equal(f->size, 5); /* not what the program says */
	assert_int_equal(f->progress, 1);
	assert_int_equal(f->bytes, 3);
	assert_int_equal(f->total, 5);
	assert_true(arrived(f, "input/a.csv"));
	assert_int_equal(parts_left(f), 0);
}

/* CB-04, CB-05: of a program that was taken over. */
static const struct {
	const char *head;
	const char *path;
} names[] = {
	{ "{\"name\": \"../../../evil\"}", "input/evil" },
	{ "{\"name\": \"/etc/evil\"}", "input/evil" },
	{ "{\"name\": \"..\"}", "input/download" },
	{ "{\"name\": \"a\\u0000b\"}", "input/download" },
	{ "{\"name\": \"a\\u202e\\u001b[2Jb\"}", "input/a__[2Jb" },
	{ "{\"name\": 5, \"type\": [], \"total\": -1}", "input/download" },
	{ "{\"name\": \"c.csv\", \"type\": \"a\\nb\\u0007\", \"total\": \"x\"}", "input/c.csv" },
	{ "{}", "input/download" },
};

static void a_name_is_made_safe_here_once_more(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *lines = xasprintf(
			"printf '%%s\\n' '{\"progress\": {\"head\": %s}}'\n" RESULT, names[i].head);

		print_message("%s\n", names[i].head);
		mem_cleanup(&f->path);
		mem_cleanup(&f->type);
		mem_cleanup(&f->from);
		run(f, lines, NULL);
		assert_non_null(f->path);
		assert_string_equal(f->path, names[i].path);
		assert_true(f->type == NULL || strpbrk(f->type, "\n\a") == NULL);
		assert_int_equal(unlinkat(workspace_data_fd(f->workspace), f->path, 0), 0);
	}
	assert_int_equal(parts_left(f), 0);
}

static void a_program_that_fails_leaves_nothing(void **state)
{
	static const char *const programs[] = {
		"printf half >&3; echo '{\"error\": {\"code\": \"denied\", \"message\": \"no\"}}'",
		"printf half >&3; exit 3",
		"printf half >&3; kill -9 $$",
		"echo garbage",
		"echo '{\"result\": 5}'; echo '{\"result\": {}}'",
		"yes '{\"progress\": {}}' | head -c 70000000",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		print_message("%s\n", programs[i]);
		f->err = (struct err){ 0 };
		run(f, programs[i], "a");
		assert_int_not_equal(f->err.code, ERR_NONE);
		assert_int_equal(strncmp(f->err.msg, "arguments.url: ", 15), 0);
		assert_false(arrived(f, "input/a"));
		assert_int_equal(parts_left(f), 0);
	}
}

static void a_name_that_is_taken_is_told_before_and_by_the_head(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	scratch_write(workspace_data_fd(f->workspace), "input/a", "old");
	assert_null(begin(f, RESULT, "a", &err));
	assert_int_equal(err.code, ERR_BUSY);
	run(f, "echo '{\"progress\": {\"head\": {\"name\": \"a\"}}}'; exec sleep 1000", NULL);
	assert_int_equal(f->err.code, ERR_BUSY);
	assert_int_equal(parts_left(f), 0);
}

/* The session made it meanwhile. */
static void a_name_that_is_taken_in_the_end_is_told_too(void **state)
{
	struct fixture *f = *state;
	struct err err;

	assert_non_null(begin(f, RESULT, "a", &err));
	scratch_write(workspace_data_fd(f->workspace), "input/a", "old");
	while (f->done == 0)
		loop_turn(f->loop, 1000);
	assert_int_equal(f->err.code, ERR_BUSY);
	assert_int_equal(parts_left(f), 0);
}

static void cancelling_ends_it_however_it_behaves(void **state)
{
	static const char *const programs[] = { "exec sleep 1000", "trap '' TERM; read more" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct err err;
		struct import *import = begin(f, programs[i], "a", &err);
		int before = f->done;

		imports_cancel(import);
		imports_cancel(import);
		while (f->done == before)
			loop_turn(f->loop, 1000);
		assert_int_equal(f->err.code, ERR_CANCELLED);
		assert_int_equal(parts_left(f), 0);
	}
}

static void a_session_that_ends_fails_its_own_at_once(void **state)
{
	struct fixture *f = *state;
	struct err err;

	assert_non_null(begin(f, "exec sleep 1000", "a", &err));
	assert_non_null(begin(f, "exec sleep 1000", "b", &err));
	imports_end_folder(f->imports, "another");
	assert_int_equal(f->done, 0);
	imports_end_folder(f->imports, workspace_name(f->workspace));
	assert_int_equal(f->done, 2);
	assert_int_equal(f->err.code, ERR_CANCELLED);
	assert_int_equal(parts_left(f), 0);
	imports_end_folder(NULL, "x");
}

static void there_is_a_most(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	for (int i = 0; i < IMPORTS_MAX; i++)
		assert_non_null(begin(f, "exec sleep 1000", NULL, &err));
	assert_null(begin(f, "exec sleep 1000", NULL, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct import_spec spec = { .program = "/nowhere",
				    .request = f->request,
				    .argument = "x",
				    .source_fd = -1,
				    .workspace = f->workspace };
	struct err err;

	assert_null(imports_start(f->imports, &spec, &handlers, f, &err));
	assert_int_equal(f->done, 0);
	assert_int_equal(parts_left(f), 0);
}

/* Writes a program that stands for ptycell-files, and has the next import use it. */
static void copy_by(struct fixture *f, const char *lines)
{
	static char path[128];
	cleanup_free char *text = xasprintf("#!/bin/sh\nread request\n%s\n", lines);

	scratch_write(f->scratch.fd, "copier", text);
	assert_int_equal(fchmodat(f->scratch.fd, "copier", 0700, 0), 0);
	(void)snprintf(path, sizeof(path), "%s/copier", f->scratch.path);
	f->copier = path;
	f->original_max = 5;
}

/* Returns how many originals there are. */
static size_t originals(const struct fixture *f)
{
	cleanup_original_list struct original_list list;

	original_list(workspace_journal_fd(f->workspace), &list);
	return list.count;
}

#define COPY "cat /proc/self/fd/4 >&3; echo '{\"result\": {}}'"

static void a_file_gets_its_original_before_it_is_placed(void **state)
{
	struct fixture *f = *state;
	cleanup_original_list struct original_list list;

	copy_by(f, "" COPY);
	run(f, "printf hello >&3\n" RESULT, "a");
	assert_true(arrived(f, "input/a"));
	assert_null(f->missed);
	original_list(workspace_journal_fd(f->workspace), &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.bytes, 5);
	assert_string_equal(original_import_name(list.files[0].name), "a");
}

static void a_larger_file_gets_none(void **state)
{
	struct fixture *f = *state;

	copy_by(f, COPY);
	run(f, "printf hello! >&3\n" RESULT, "a");
	assert_true(arrived(f, "input/a"));
	assert_null(f->missed);
	assert_int_equal(originals(f), 0);
}

static void an_original_that_cannot_be_made_is_told(void **state)
{
	static const char *const programs[] = {
		"echo '{\"error\": {\"code\": \"system\", \"message\": \"the disk is full\"}}'",
		"exit 3"
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cleanup_free char *name = xasprintf("a%zu", i);

		mem_cleanup(&f->missed);
		mem_cleanup(&f->path);
		mem_cleanup(&f->from);
		copy_by(f, programs[i]);
		run(f, "printf hello >&3\n" RESULT, name);
		assert_true(arrived(f, f->path));
		assert_non_null(f->missed);
		assert_int_equal(originals(f), 0);
	}
	mem_cleanup(&f->missed);
	mem_cleanup(&f->path);
	mem_cleanup(&f->from);
	f->copier = "/nowhere";
	run(f, "printf hello >&3\n" RESULT, "b");
	assert_true(arrived(f, "input/b"));
	assert_non_null(f->missed);
}

static void cancelling_while_the_original_is_made_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct import *import;
	struct err err;

	copy_by(f, "echo begun >&4; exec sleep 1000");
	import = begin(f, "printf hello >&3\n" RESULT, "a", &err);
	assert_non_null(import);
	while (!scratch_exists(workspace_journal_fd(f->workspace), ORIGINAL_FOLDER))
		loop_turn(f->loop, 1000);
	imports_cancel(import);
	while (f->done == 0)
		loop_turn(f->loop, 1000);
	assert_int_equal(f->err.code, ERR_CANCELLED);
	assert_false(arrived(f, "input/a"));
	assert_int_equal(parts_left(f), 0);
	assert_int_equal(originals(f), 0);
}

#define INTAKE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INTAKE_TEST(what_comes_is_named_and_measured_here),
		INTAKE_TEST(a_name_is_made_safe_here_once_more),
		INTAKE_TEST(a_program_that_fails_leaves_nothing),
		INTAKE_TEST(a_name_that_is_taken_is_told_before_and_by_the_head),
		INTAKE_TEST(a_name_that_is_taken_in_the_end_is_told_too),
		INTAKE_TEST(cancelling_ends_it_however_it_behaves),
		INTAKE_TEST(a_session_that_ends_fails_its_own_at_once),
		INTAKE_TEST(there_is_a_most),
		INTAKE_TEST(a_file_gets_its_original_before_it_is_placed),
		INTAKE_TEST(a_larger_file_gets_none),
		INTAKE_TEST(an_original_that_cannot_be_made_is_told),
		INTAKE_TEST(cancelling_while_the_original_is_made_leaves_nothing),
		INTAKE_TEST(a_program_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
