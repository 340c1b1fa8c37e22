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
#include "confinement/mounts.h"
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

/* A folder, and in it the folder "a b/m" on a disk of its own. */
struct disk {
	struct scratch scratch;
	bool is_mounted;
};

static void unmount_disk(struct disk *disk)
{
	cleanup_free char *end = xasprintf("umount '%s/a b/m'", disk->scratch.path);

	assert_true(runs(end));
	disk->is_mounted = false;
}

/* Skips where that cannot be. */
static void mount_disk(struct disk *disk, const char *mount_by)
{
	cleanup_free char *make =
		xasprintf("cd '%s' && truncate -s 4M i && mkntfs -qF i >&2 && mkdir -p 'a b/m' && "
			  "%s i 'a b/m'",
			  disk->scratch.path, mount_by);

	disk->is_mounted = geteuid() == 0 && runs("command -v mkntfs >&2") && runs(make);
	if (disk->is_mounted)
		return;
	mem_cleanup(&make); /* skip() does not return */
	skip();
}

static int setup(void **state)
{
	struct disk *disk = xcalloc(1, sizeof(*disk));

	scratch_init(&disk->scratch);
	*state = disk;
	return 0;
}

static int teardown(void **state)
{
	struct disk *disk = *state;

	if (disk->is_mounted)
		unmount_disk(disk);
	scratch_release(&disk->scratch);
	free(disk);
	return 0;
}

/* Returns what is said of the top of an image that is mounted so. */
static const char *objection_on(struct disk *disk, const char *mount_by)
{
	const char *said;
	int fd;

	mount_disk(disk, mount_by);
	fd = openat(disk->scratch.fd, "a b/m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	said = filesystem_objection(fd);
	(void)close(fd);
	return said;
}

static void one_that_ignores_case_without_the_kernel_is_refused(void **state)
{
	const char *said = objection_on(*state, "lowntfs-3g -o ignore_case,umask=022");

	assert_non_null(said);
	assert_non_null(strstr(said, "takes .ENVRC for .envrc"));
}

static void one_without_modes_is_refused(void **state)
{
	const char *said = objection_on(*state, "ntfs-3g -o umask=022");

	assert_non_null(said);
	assert_non_null(strstr(said, "stores no modes"));
}

/* Reports also a disk that was mounted after the folder had been tried. */
static void a_disk_in_a_folder_is_found_and_tried(void **state)
{
	struct disk *disk = *state;
	cleanup_free char *mounts = NULL;

	assert_null(mounts_objection(disk->scratch.fd, disk->scratch.path, &mounts));
	assert_string_equal(mounts, "");
	mount_disk(disk, "ntfs-3g -o umask=022");
	for (int i = 0; i < 2; i++) {
		cleanup_free char *said =
			mounts_objection(disk->scratch.fd, disk->scratch.path, &mounts);

		assert_non_null(said);
		assert_non_null(strstr(said, "has another disk in it, and '"));
		assert_non_null(strstr(said, "/a b/m' is on a file system that stores no modes"));
		assert_string_equal(mounts, "");
	}
	unmount_disk(disk);
	assert_null(mounts_objection(disk->scratch.fd, disk->scratch.path, &mounts));
	mount_disk(disk, "ntfs-3g -o umask=022,ro");
	assert_null(mounts_objection(disk->scratch.fd, disk->scratch.path, &mounts));
	assert_non_null(strstr(mounts, "/a\\040b/m "));
}

static void of_the_folder_itself_it_is_said_as_well(void **state)
{
	struct disk *disk = *state;
	cleanup_free char *path = xasprintf("%s/a b/m", disk->scratch.path);
	cleanup_free char *mounts = NULL;
	cleanup_free char *said = NULL;
	int fd;

	mount_disk(disk, "ntfs-3g -o umask=022");
	fd = openat(disk->scratch.fd, "a b/m", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	said = mounts_objection(fd, path, &mounts);
	(void)close(fd);
	assert_non_null(said);
	assert_int_equal(strncmp(said, "is on a file system that stores no modes", 40), 0);
	assert_null(mounts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_an_ordinary_folder_and_nothing_stays),
		cmocka_unit_test_setup_teardown(one_that_ignores_case_without_the_kernel_is_refused,
						setup, teardown),
		cmocka_unit_test_setup_teardown(one_without_modes_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_disk_in_a_folder_is_found_and_tried, setup,
						teardown),
		cmocka_unit_test_setup_teardown(of_the_folder_itself_it_is_said_as_well, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
