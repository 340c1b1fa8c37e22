/* SPDX-License-Identifier: MIT */
/*
 * open_files.c - asks for leases. The kernel grants one for writing only if no other process has
 * the file open, and one for reading only if none has it open for writing. File systems without
 * leases, such as NFS, grant none. In an overlay a mapping is of the file below, which the lease
 * does not ask: one whose descriptor is closed is not found there.
 */
#include "open_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { INFO_MAX = 1024 };

static const char *find_value(const char *info, const char *key)
{
	const char *found = strstr(info, key);

	return found != NULL ? found + strlen(key) : NULL;
}

/* Returns whether a descriptor only appends: one that also reads may have read what changes. */
static bool is_append(unsigned long flags)
{
	return (flags & O_ACCMODE) == O_WRONLY && (flags & O_APPEND) != 0;
}

/* Adds what /proc/PID/fdinfo has of a descriptor. Linux before 5.14 does not show the inode. */
static void add_info(struct open_files *open, const char *info)
{
	const char *flags = find_value(info, "flags:\t");
	const char *ino = find_value(info, "\nino:\t");
	unsigned long bits = flags != NULL ? strtoul(flags, NULL, 8) : 0;

	if (ino == NULL || (bits & O_PATH) != 0)
		return;
	open->files = xrealloc(open->files, (open->count + 1) * sizeof(*open->files));
	open->files[open->count++] =
		(struct open_file){ .ino = strtoull(ino, NULL, 10), .appends = is_append(bits) };
}

/* Returns whether a path leads to it: pipes and sockets have inodes, too. */
static bool has_path(int dir_fd, const char *number)
{
	char path[2] = "";

	return readlinkat(dir_fd, number, path, sizeof(path) - 1) > 0 && path[0] == '/';
}

static void add_descriptor(struct open_files *open, int process_fd, const char *number)
{
	cleanup_free char *name = xasprintf("fdinfo/%s", number);
	cleanup_fd int fd = openat(process_fd, name, O_RDONLY | O_CLOEXEC);
	char info[INFO_MAX] = "";

	if (fd >= 0 && read(fd, info, sizeof(info) - 1) > 0)
		add_info(open, info);
}

static void add_process(struct open_files *open, int process_fd)
{
	cleanup_fd int links = openat(process_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = links >= 0 ? fd_list(links) : NULL;
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = fd_next_entry(dir)) != NULL)
		if (!fd_is_dot(entry->d_name) && has_path(links, entry->d_name))
			add_descriptor(open, process_fd, entry->d_name);
	(void)closedir(dir);
}

/* No file is opened or looked at here: on a share whose server is gone that would hang. */
void open_files_list(struct open_files *open)
{
	DIR *dir = fd_list_own(openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = fd_next_entry(dir)) != NULL) {
		cleanup_fd int process = -1;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		process = openat(dirfd(dir), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (process >= 0)
			add_process(open, process);
	}
	(void)closedir(dir);
}

void open_files_release(struct open_files *open)
{
	free(open->files);
	*open = (struct open_files){ 0 };
}

/*
 * Returns how the listed descriptors have a file open. It counts too many where another file system
 * has a file of the same number.
 */
static enum open_files_how find_listed(const struct open_files *open, uint64_t ino)
{
	enum open_files_how how = OPEN_FILES_UNKNOWN;

	for (size_t i = 0; i < open->count; i++) {
		if (open->files[i].ino != ino)
			continue;
		if (!open->files[i].appends)
			return OPEN_FILES_WRITES;
		how = OPEN_FILES_APPENDS;
	}
	return how;
}

/* Returns 0, or the errno of a lease that is not granted: EAGAIN if the file is open. */
static int try_lease(int fd, int type)
{
	if (fcntl(fd, F_SETLEASE, type) < 0)
		return errno;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

enum open_files_how open_files_how(const struct open_files *open, int fd)
{
	struct stat st;
	enum open_files_how listed;
	int refused;

	if (fd < 0 || fstat(fd, &st) < 0)
		return OPEN_FILES_UNKNOWN;
	if (try_lease(fd, F_WRLCK) == 0)
		return OPEN_FILES_NONE;
	refused = try_lease(fd, F_RDLCK);
	if (refused == 0)
		return OPEN_FILES_READS;
	listed = find_listed(open, st.st_ino);
	return listed == OPEN_FILES_UNKNOWN && refused == EAGAIN ? OPEN_FILES_WRITES : listed;
}
