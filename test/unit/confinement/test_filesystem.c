/* SPDX-License-Identifier: MIT */
/* test_filesystem.c - file systems on which names can be held, and others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "confinement/filesystem.h"
#include "scratch.h"

static void nothing_is_said_of_an_ordinary_folder_and_nothing_stays(void **state)
{
	struct scratch scratch;

	(void)state;
	scratch_init(&scratch);
	assert_null(filesystem_try(scratch.fd));
	assert_null(filesystem_objection(scratch.fd));
	assert_int_equal(rmdir(scratch.path), 0);
	assert_int_equal(mkdir(scratch.path, 0700), 0);
	scratch_release(&scratch);
}

static bool runs(const char *command)
{
	pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Returns what is said of the top of an image that is mounted so. */
static const char *objection_on(const char *mount_by)
{
	struct scratch scratch;
	cleanup_free char *make = NULL;
	cleanup_free char *end = NULL;
	const char *said;
	int fd;

	scratch_init(&scratch);
	make = xasprintf("cd '%s' && truncate -s 4M i && mkntfs -qF i >&2 && mkdir m && %s i m",
			 scratch.path, mount_by);
	end = xasprintf("umount '%s/m'", scratch.path);
	if (geteuid() != 0 || !runs("command -v mkntfs >&2") || !runs(make)) {
		scratch_release(&scratch);
		mem_cleanup(&make); /* skip() does not return */
		mem_cleanup(&end);
		skip();
	}
	fd = openat(scratch.fd, "m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	said = filesystem_objection(fd);
	(void)close(fd);
	assert_true(runs(end));
	scratch_release(&scratch);
	return said;
}

static void one_that_ignores_case_without_the_kernel_is_refused(void **state)
{
	const char *said = objection_on("lowntfs-3g -o ignore_case,umask=022");

	(void)state;
	assert_non_null(said);
	assert_non_null(strstr(said, "takes .ENVRC for .envrc"));
}

static void one_without_modes_is_refused(void **state)
{
	const char *said = objection_on("ntfs-3g -o umask=022");

	(void)state;
	assert_non_null(said);
	assert_non_null(strstr(said, "stores no modes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_an_ordinary_folder_and_nothing_stays),
		cmocka_unit_test(one_that_ignores_case_without_the_kernel_is_refused),
		cmocka_unit_test(one_without_modes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
