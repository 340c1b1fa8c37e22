/* SPDX-License-Identifier: MIT */
/*
 * test_runtime_dirs.c - which folders interpreters of each kind bring along, and which are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/settings.h"
#include "confinement/runtime_dirs.h"
#include "confinement/shares.h"
#include "scratch.h"

/* An empty home folder of a user. */
struct fixture {
	struct scratch scratch;
	char *home;
	struct runtime_dirs runtimes;
	struct runtime_dirs_bounds bounds;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	scratch_init(&f->scratch);
	f->home = xasprintf("%s/me", f->scratch.path);
	f->bounds = (struct runtime_dirs_bounds){ .home = f->home, .cwd = "/" };
	assert_int_equal(mkdir(f->home, 0700), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_dirs_release(&f->runtimes);
	free(f->home);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

/* Makes a file or, with `target`, a link in the home folder, with the folders above it. */
static void make(struct fixture *f, const char *name, const char *text, const char *target)
{
	cleanup_free char *path = xasprintf("%s/%s", f->home, name);
	cleanup_fd int fd = -1;
	struct err err;

	for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = '/';
	}
	if (target != NULL) {
		assert_int_equal(symlink(target, path), 0);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text), &err), 0);
}

/* Checks the path by which it is started, relative to the home folder. */
static void assert_started_as(struct fixture *f, const char *name, const char *started)
{
	cleanup_free char *path = xasprintf("%s/%s", f->home, name);
	cleanup_free char *wanted = xasprintf("%s/%s", f->home, started);
	struct err err = { 0 };
	cleanup_free char *got = runtime_dirs_add(&f->runtimes, &f->bounds, path, &err);

	if (got == NULL)
		fail_msg("%s", err.msg);
	assert_string_equal(got, wanted);
}

static void assert_refused(struct fixture *f, const char *name, const char *words)
{
	cleanup_free char *path = xasprintf("%s/%s", f->home, name);
	struct err err = { 0 };
	cleanup_free char *got = runtime_dirs_add(&f->runtimes, &f->bounds, path, &err);

	assert_null(got);
	if (strstr(err.msg, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, err.msg);
}

static void assert_brings(const struct fixture *f, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", f->home, name);

	for (size_t i = 0; i < f->runtimes.count; i++)
		if (str_eq(f->runtimes.paths[i], path))
			return;
	fail_msg("'%s' is not brought along", path);
}

static void the_systems_own_brings_nothing(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	cleanup_free char *sh = runtime_dirs_add(&f->runtimes, &f->bounds, "/bin/sh", &err);

	assert_string_equal(sh, "/bin/sh");
	assert_int_equal(f->runtimes.count, 0);
}

static void a_version_managers_brings_its_own_folder(void **state)
{
	struct fixture *f = *state;

	make(f, ".pyenv/versions/3.12.1/bin/python3.12", "x", NULL);
	make(f, ".pyenv/versions/3.12.1/bin/python3", NULL, "python3.12");
	assert_started_as(f, ".pyenv/versions/3.12.1/bin/python3",
			  ".pyenv/versions/3.12.1/bin/python3.12");
	make(f, ".nvm/versions/node/v20.1.0/bin/node", "x", NULL);
	assert_started_as(f, ".nvm/versions/node/v20.1.0/bin/node",
			  ".nvm/versions/node/v20.1.0/bin/node");
	assert_int_equal(f->runtimes.count, 2);
	assert_brings(f, ".pyenv/versions/3.12.1");
	assert_brings(f, ".nvm/versions/node/v20.1.0");
}

static void a_link_among_the_persons_programs_is_not_brought_along(void **state)
{
	struct fixture *f = *state;

	make(f, ".local/share/uv/python/cpython-3.12/bin/python3.12", "x", NULL);
	make(f, ".local/bin/python3", NULL, "../share/uv/python/cpython-3.12/bin/python3.12");
	assert_started_as(f, ".local/bin/python3",
			  ".local/share/uv/python/cpython-3.12/bin/python3.12");
	assert_int_equal(f->runtimes.count, 1);
	assert_brings(f, ".local/share/uv/python/cpython-3.12");
}

static void a_virtual_environment_keeps_its_path_and_brings_its_base(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *config =
		xasprintf("home = %s/.pyenv/versions/3.12/bin\nversion = 3.12\n", f->home);
	cleanup_free char *base = xasprintf("%s/.pyenv/versions/3.12/bin/python3.12", f->home);

	make(f, ".pyenv/versions/3.12/bin/python3.12", "x", NULL);
	make(f, "work/.venv/pyvenv.cfg", config, NULL);
	make(f, "work/.venv/bin/python3.12", NULL, base);
	make(f, "work/.venv/bin/python", NULL, "python3.12");
	assert_started_as(f, "work/.venv/bin/python", "work/.venv/bin/python");
	assert_int_equal(f->runtimes.count, 2);
	assert_brings(f, "work/.venv");
	assert_brings(f, ".pyenv/versions/3.12");
}

static void a_virtual_environment_of_the_systems_python_brings_only_itself(void **state)
{
	struct fixture *f = *state;

	make(f, "work/.venv/pyvenv.cfg", "home = /usr/bin\n", NULL);
	make(f, "work/.venv/bin/python", NULL, "/usr/bin/python3");
	assert_started_as(f, "work/.venv/bin/python", "work/.venv/bin/python");
	assert_int_equal(f->runtimes.count, 1);
	assert_brings(f, "work/.venv");
}

/* An environment of uv names its base by a link that moves with updates. */
static void links_on_the_way_to_a_base_lead_there_inside_too(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *config = xasprintf("home = %s/uv/cpython-3.12/bin\n", f->home);
	cleanup_free char *base = xasprintf("%s/uv/cpython-3.12/bin/python3.12", f->home);

	make(f, "uv/cpython-3.12.4/bin/python3.12", "x", NULL);
	make(f, "uv/cpython-3.12", NULL, "cpython-3.12.4");
	make(f, "work/.venv/pyvenv.cfg", config, NULL);
	make(f, "work/.venv/bin/python", NULL, base);
	assert_started_as(f, "work/.venv/bin/python", "work/.venv/bin/python");
	assert_int_equal(f->runtimes.count, 2);
	assert_brings(f, "uv");
}

/* A folder is bound only if it is not at or above the home folder, the current one or a share. */
static void folders_that_hold_the_persons_files_are_refused(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *cwd = xasprintf("%s/opt/tool/project", f->home);

	make(f, "bin/python3", "x", NULL);
	assert_refused(f, "bin/python3", "holds more than an interpreter");
	make(f, ".local/bin/python3", "x", NULL);
	assert_refused(f, ".local/bin/python3", "holds more than an interpreter");
	make(f, "python3", "x", NULL);
	assert_refused(f, "python3", "holds more than an interpreter");
	make(f, "opt/tool/bin/python3", "x", NULL);
	f->bounds.cwd = cwd;
	assert_refused(f, "opt/tool/bin/python3", "ptycell was started");
	f->bounds.cwd = "/";
	f->bounds.sessions = cwd;
	assert_refused(f, "opt/tool/bin/python3", "sessions' own files");
	assert_refused(f, "opt/tool/bin/gone", "No such file");
	assert_int_equal(f->runtimes.count, 0);
}

/* Otherwise code could write to the environment from which interpreters come. */
static void what_code_may_change_is_never_run_from(void **state)
{
	struct fixture *f = *state;
	struct settings_share share = { .path = xasprintf("%s/work", f->home), .writable = true };
	char *env[] = { xasprintf("HOME=%s", f->home), NULL };
	struct settings settings = { .environment = env,
				     .home = (char *)(uintptr_t) "/nowhere/cache",
				     .unconfined = true, /* root may share it then */
				     .shares = &share,
				     .share_count = 1 };
	struct shares *shares;
	struct err err = { 0 };

	make(f, "work/.venv/pyvenv.cfg", "home = /usr/bin\n", NULL);
	make(f, "work/.venv/bin/python", NULL, "/usr/bin/python3");
	shares = shares_open(&settings, &err);
	assert_non_null(shares);
	f->bounds.shares = shares;
	assert_refused(f, "work/.venv/bin/python", "shared with :rw");
	shares_free(shares);
	share.writable = false;
	shares = shares_open(&settings, &err);
	assert_non_null(shares);
	f->bounds.shares = shares;
	assert_started_as(f, "work/.venv/bin/python", "work/.venv/bin/python");
	shares_free(shares);
	free(share.path);
	free(env[0]);
}

#define RUNTIMES_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNTIMES_TEST(the_systems_own_brings_nothing),
		RUNTIMES_TEST(a_version_managers_brings_its_own_folder),
		RUNTIMES_TEST(a_link_among_the_persons_programs_is_not_brought_along),
		RUNTIMES_TEST(a_virtual_environment_keeps_its_path_and_brings_its_base),
		RUNTIMES_TEST(a_virtual_environment_of_the_systems_python_brings_only_itself),
		RUNTIMES_TEST(links_on_the_way_to_a_base_lead_there_inside_too),
		RUNTIMES_TEST(folders_that_hold_the_persons_files_are_refused),
		RUNTIMES_TEST(what_code_may_change_is_never_run_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
