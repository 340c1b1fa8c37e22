/* SPDX-License-Identifier: MIT */
/* test_driver_cache.c - which interpreters have an entry, and that entries are whole and few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/driver_cache.h"
#include "scratch.h"
#include "workspace/home.h"
#include "workspace/workspace.h"

struct fixture {
	struct scratch scratch;
	struct home *home;
	const struct language *python;
	char path[128]; /* of an interpreter */
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	cleanup_free char *home = NULL;
	struct err err;

	scratch_init(&f->scratch);
	home = xasprintf("%s/home", f->scratch.path);
	f->home = home_open(home, &err);
	assert_non_null(f->home);
	f->python = language_find("python");
	(void)snprintf(f->path, sizeof(f->path), "%s/python3", f->scratch.path);
	write_file(f->path, "an interpreter");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	home_close(f->home);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

static void keep(const struct fixture *f, const struct language *language, const char *path,
		 const char *data, size_t len)
{
	cleanup_free char *name = driver_cache_name(language, path);

	driver_cache_put(f->home, name, data, len);
}

static size_t kept(const struct fixture *f, const struct language *language, const char *path)
{
	cleanup_free char *name = driver_cache_name(language, path);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t len;

	driver_cache_get(f->home, name, &out);
	len = out.len;
	buf_release(&out);
	return len;
}

static void what_was_kept_comes_back(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *name = driver_cache_name(f->python, f->path);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	driver_cache_put(f->home, name, "older", 5);
	driver_cache_put(f->home, name, "code\0more", 9);
	driver_cache_get(f->home, name, &out);
	assert_int_equal(out.len, 9);
	assert_memory_equal(out.data, "code\0more", 9);
}

static void nothing_is_there_before(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(kept(f, f->python, f->path), 0);
	assert_int_equal(kept(f, f->python, "/nowhere/python3"), 0);
}

static void another_interpreter_at_the_same_path_gets_nothing(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *other = xasprintf("%s/other", f->scratch.path);

	keep(f, f->python, f->path, "code", 4);
	write_file(other, "an interpreter");
	assert_int_equal(kept(f, f->python, other), 0);
	assert_int_equal(rename(other, f->path), 0);
	assert_int_equal(kept(f, f->python, f->path), 0);
}

static void a_link_is_not_what_it_leads_to(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *link = xasprintf("%s/link", f->scratch.path);
	cleanup_free char *again = xasprintf("%s/again", f->scratch.path);

	assert_int_equal(symlink(f->path, link), 0);
	keep(f, f->python, link, "code", 4);
	assert_int_equal(kept(f, f->python, link), 4);
	assert_int_equal(kept(f, f->python, f->path), 0);
	assert_int_equal(symlink(f->path, again), 0);
	assert_int_equal(rename(again, link), 0);
	assert_int_equal(kept(f, f->python, link), 0);
}

/* Its packages run before the driver, and a session may have written them. */
static void a_virtual_environment_has_none(void **state)
{
	static const char *const marks[] = { "bin/pyvenv.cfg", "pyvenv.cfg", "conda-meta" };
	struct fixture *f = *state;
	cleanup_free char *bin = xasprintf("%s/bin", f->scratch.path);
	cleanup_free char *python = xasprintf("%s/python3", bin);

	assert_int_equal(mkdir(bin, 0700), 0);
	assert_int_equal(symlink(f->path, python), 0);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		cleanup_free char *mark = xasprintf("%s/%s", f->scratch.path, marks[i]);

		keep(f, f->python, python, "code", 4);
		assert_int_equal(kept(f, f->python, python), 4);
		write_file(mark, "");
		assert_int_equal(kept(f, f->python, python), 0);
		assert_int_equal(unlink(mark), 0);
	}
}

static void one_that_was_replaced_while_it_ran_leaves_the_new_one_nothing(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *other = xasprintf("%s/other", f->scratch.path);
	cleanup_free char *name = driver_cache_name(f->python, f->path);

	write_file(other, "another interpreter");
	assert_int_equal(rename(other, f->path), 0);
	driver_cache_put(f->home, name, "code", 4);
	assert_int_equal(kept(f, f->python, f->path), 0);
}

static void what_another_server_is_writing_stays(void **state)
{
	struct fixture *f = *state;
	char path[200];

	keep(f, f->python, f->path, "code", 4);
	for (int i = 0; i < 2 * DRIVER_CACHE_FILES_MAX; i++) {
		(void)snprintf(path, sizeof(path), "%s/home/drivers/.new-%d", f->scratch.path, i);
		write_file(path, "half of it");
	}
	keep(f, f->python, f->path, "again", 5);
	assert_int_equal(kept(f, f->python, f->path), 5);
	for (int i = 0; i < 2 * DRIVER_CACHE_FILES_MAX; i++) {
		(void)snprintf(path, sizeof(path), "%s/home/drivers/.new-%d", f->scratch.path, i);
		assert_int_equal(access(path, F_OK), 0);
	}
}

static void too_much_is_not_kept(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *data = xcalloc(1, DRIVER_CACHE_MAX + 1);

	keep(f, f->python, f->path, data, DRIVER_CACHE_MAX + 1);
	assert_int_equal(kept(f, f->python, f->path), 0);
}

static void a_language_without_compiled_drivers_has_none(void **state)
{
	struct fixture *f = *state;

	keep(f, language_find("bash"), f->path, "code", 4);
	assert_int_equal(kept(f, language_find("bash"), f->path), 0);
}

/* The folder is private. */
static void files_do_not_pile_up(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *folder = xasprintf("%s/home/drivers", f->scratch.path);
	size_t count = 0;
	struct stat st;
	DIR *dir;

	for (int i = 0; i < 3 * DRIVER_CACHE_FILES_MAX; i++) {
		cleanup_free char *path = xasprintf("%s/python-%d", f->scratch.path, i);

		write_file(path, "an interpreter");
		keep(f, f->python, path, "code", 4);
		assert_int_equal(kept(f, f->python, path), 4);
	}
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	dir = opendir(folder);
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	assert_int_equal(closedir(dir), 0);
	assert_true(count <= DRIVER_CACHE_FILES_MAX + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_kept_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_there_before, setup, teardown),
		cmocka_unit_test_setup_teardown(another_interpreter_at_the_same_path_gets_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_is_not_what_it_leads_to, setup, teardown),
		cmocka_unit_test_setup_teardown(a_virtual_environment_has_none, setup, teardown),
		cmocka_unit_test_setup_teardown(
			one_that_was_replaced_while_it_ran_leaves_the_new_one_nothing, setup,
			teardown),
		cmocka_unit_test_setup_teardown(what_another_server_is_writing_stays, setup,
						teardown),
		cmocka_unit_test_setup_teardown(too_much_is_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(a_language_without_compiled_drivers_has_none, setup,
						teardown),
		cmocka_unit_test_setup_teardown(files_do_not_pile_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
