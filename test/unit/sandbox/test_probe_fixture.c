/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/probe/probe_fixture.h"

/* Leaves a folder as a killed probe does. */
static int leave(char *name)
{
	int fd;

	assert_non_null(mkdtemp(name));
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "data", 0700), 0);
	assert_int_equal(mkdirat(fd, "bait", 0700), 0);
	assert_int_equal(mknodat(fd, "bait/" ESCAPES_FILE, S_IFREG | 0600, 0), 0);
	assert_int_equal(mknodat(fd, "bait/" ESCAPES_SOCKET, S_IFSOCK | 0600, 0), 0);
	assert_int_equal(mknodat(fd, "data/" ESCAPES_FILE, S_IFREG | 0600, 0), 0);
	return fd;
}

static void make_and_remove(void)
{
	struct probe_fixture site;
	struct err err;

	if (probe_fixture_make(&site, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(access(site.data, W_OK), 0);
	probe_fixture_remove(&site);
	assert_int_equal(access(site.folder, F_OK), -1);
}

static void nothing_is_left_of_a_site(void **state)
{
	(void)state;
	make_and_remove();
}

static void what_a_killed_probe_left_is_removed(void **state)
{
	char name[] = "/tmp/ptycell-probe-XXXXXX";
	int fd = leave(name);

	(void)state;
	(void)close(fd);
	make_and_remove();
	assert_int_equal(access(name, F_OK), -1);
}

static void a_site_in_use_is_left_alone(void **state)
{
	char name[] = "/tmp/ptycell-probe-XXXXXX";
	int fd = leave(name);

	(void)state;
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	make_and_remove();
	assert_int_equal(faccessat(fd, "bait/" ESCAPES_FILE, F_OK, 0), 0);
	(void)close(fd);
	make_and_remove();
	assert_int_equal(access(name, F_OK), -1);
}

static void a_link_of_that_name_is_not_followed(void **state)
{
	char other[] = "/tmp/ptycell-other-XXXXXX";
	char renamed[64];
	char name[64];
	int fd = leave(other);

	(void)state;
	(void)snprintf(name, sizeof(name), "/tmp/ptycell-probe-link-%d", (int)getpid());
	assert_int_equal(symlink(other, name), 0);
	make_and_remove();
	assert_int_equal(faccessat(fd, "bait/" ESCAPES_FILE, F_OK, 0), 0);
	assert_int_equal(unlink(name), 0);
	/* Renamed to match the pattern of stale folders. */
	(void)snprintf(renamed, sizeof(renamed), "/tmp/ptycell-probe-was-%d", (int)getpid());
	assert_int_equal(rename(other, renamed), 0);
	(void)close(fd);
	make_and_remove();
	assert_int_equal(access(renamed, F_OK), -1);
}

/*
 * Each removes folders that it takes for stale, and may find its own removed before it is locked.
 */
static void many_at_once_have_a_fixture_each(void **state)
{
	enum { PROCESSES = 6, ROUNDS = 150 };
	int status = 0;

	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() != 0)
			continue;
		for (int round = 0; round < ROUNDS; round++) {
			struct probe_fixture site;
			struct err err;

			if (probe_fixture_make(&site, &err) < 0 || access(site.data, W_OK) < 0)
				_exit(1);
			probe_fixture_remove(&site);
		}
		_exit(0);
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_of_a_site),
		cmocka_unit_test(what_a_killed_probe_left_is_removed),
		cmocka_unit_test(a_site_in_use_is_left_alone),
		cmocka_unit_test(a_link_of_that_name_is_not_followed),
		cmocka_unit_test(many_at_once_have_a_fixture_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
