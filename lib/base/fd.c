/* SPDX-License-Identifier: MIT */
/*
 * fd.c - descriptors: closing, copying, reading whole files. Filters of containers forbid
 * close_range and memfd_create, so both have a fallback through /proc/self/fd and O_TMPFILE. The
 * fallback uses no heap because it also runs between fork and exec.
 */
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(fd_steal(fd));
	errno = saved;
}

int fd_steal(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

DIR *fd_list(int dir_fd)
{
	return fd_list_own(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

DIR *fd_list_own(int dir_fd_own)
{
	DIR *folder = dir_fd_own < 0 ? NULL : fdopendir(dir_fd_own);

	if (folder == NULL)
		fd_close(&dir_fd_own);
	return folder;
}

const struct dirent *fd_next_entry(DIR *folder)
{
	errno = 0;
	return readdir(folder);
}

bool fd_hides_entries(int error)
{
	return error != 0 && error != ENOENT && error != ENOTDIR && error != ELOOP;
}

bool fd_is_dot(const char *name)
{
	return str_eq(name, ".") || str_eq(name, "..");
}

bool fd_is_file(int fd, const char *path)
{
	struct stat held;
	struct stat named;

	return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

char *fd_path(int fd)
{
	char entry[32];
	char target[PATH_MAX];
	ssize_t len;

	(void)snprintf(entry, sizeof(entry), "/proc/self/fd/%d", fd);
	len = readlink(entry, target, sizeof(target));
	return len > 0 && len < PATH_MAX ? xmemdup(target, (size_t)len) : NULL;
}

int fd_set_nonblock(int fd, struct err *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_sys(err, "making descriptor %d non-blocking", fd);
	return 0;
}

int fd_dup(int fd, struct err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return err_sys(err, "duplicating descriptor %d", fd);
	return copy;
}

/* ---- many at once ---- */

static int close_one(int fd)
{
	return close(fd);
}

static int mark_one(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int close_unmarked(int fd)
{
	return fcntl(fd, F_GETFD) == 0 ? close(fd) : 0;
}

static int act_on_listed(int first, int (*act)(int fd))
{
	cleanup_fd int list = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char names[1024];
	ssize_t len;

	if (list < 0)
		return -1;
	while ((len = getdents64(list, names, sizeof(names))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const void *)(names + at);
			int fd = (int)strtol(entry->d_name, NULL, 10);

			at += entry->d_reclen;
			if (entry->d_name[0] != '.' && fd >= first && fd != list && act(fd) < 0)
				return -1;
		}
	}
	return len < 0 ? -1 : 0;
}

/*
 * Closes or marks at once. Container filters answer EPERM or ENOSYS for calls that they do not
 * know.
 */
static int act_on_range(int first, unsigned int flags)
{
	if (close_range((unsigned int)first, ~0U, (int)flags) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	return act_on_listed(first, flags == 0 ? close_one : mark_one);
}

int fd_close_from(int first)
{
	return act_on_range(first, 0);
}

int fd_mark_from(int first)
{
	return act_on_range(first, CLOSE_RANGE_CLOEXEC);
}

void fd_close_inherited(void)
{
	(void)act_on_listed(STDERR_FILENO + 1, close_unmarked);
}

/* ---- files without a name ---- */

/*
 * With vm.memfd_noexec=2 a memfd must be created as non-executable; kernels before 6.3 refuse the
 * flag with EINVAL.
 */
static int make_memfd(const char *name)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	const unsigned int no_program = 8; /* MFD_NOEXEC_SEAL */
	int fd = memfd_create(name, flags | no_program);

	return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

int fd_unnamed(const char *name, struct err *err)
{
	static const char *const folders[] = { "/dev/shm", "/tmp", "/var/tmp" };
	int fd = make_memfd(name);
	int error = errno;

	for (size_t i = 0; fd < 0 && (error == ENOSYS || error == EPERM || error == EACCES) &&
			   i < ARRAY_SIZE(folders);
	     i++)
		fd = open(folders[i], O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd >= 0)
		return fd;
	errno = error;
	return err_sys(err, "making a file in memory");
}

/* ---- whole files ---- */

static char *read_all(int fd, const char *path, size_t max, size_t *ret_len, struct err *err)
{
	cleanup_buf struct buf buf = BUF_INIT(max);

	for (;;) {
		char chunk[4096];
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			(void)err_sys(err, "reading '%s'", path);
			return NULL;
		}
		if (n == 0)
			break;
		if (buf_add(&buf, chunk, (size_t)n, err) < 0) {
			(void)err_wrap(err, "reading '%s'", path);
			return NULL;
		}
	}
	if (ret_len != NULL)
		*ret_len = buf.len;
	return buf_steal(&buf);
}

/*
 * Waits for the writer of a pipe. The pipe was opened without blocking, because an open that blocks
 * could wait for a writer for ever.
 */
static int await_writer(int fd, const char *path, struct err *err)
{
	struct pollfd pipe = { .fd = fd, .events = POLLIN };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "opening '%s'", path);
	if (!S_ISFIFO(st.st_mode))
		return 0;
	if (poll(&pipe, 1, FD_WRITER_MS) == 0)
		return err_set(err, ERR_INVALID, "nobody writes to the pipe '%s'", path);
	if (fcntl(fd, F_SETFL, 0) < 0)
		return err_sys(err, "opening '%s'", path);
	return 0;
}

char *fd_read_file(int dir_fd, const char *path, size_t max, size_t *ret_len, struct err *err)
{
	cleanup_fd int fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		(void)err_sys(err, "opening '%s'", path);
		return NULL;
	}
	if (await_writer(fd, path, err) < 0)
		return NULL;
	return read_all(fd, path, max, ret_len, err);
}

char *fd_read_regular(const char *path, size_t max, size_t *ret_len, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		(void)err_sys(err, "opening '%s'", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		(void)err_set(err, ERR_INVALID, "'%s' is no regular file", path);
		return NULL;
	}
	return read_all(fd, path, max, ret_len, err);
}

int fd_write_all(int fd, const void *data, size_t len, struct err *err)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "writing %zu bytes", len);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t fd_read_at(int fd, void *data, size_t len, uint64_t at)
{
	size_t got = 0;
	ssize_t n = -1;

	while (got < len && n != 0) {
		n = pread(fd, (char *)data + got, len - got, (off_t)(at + got));
		if (n < 0 && errno != EINTR)
			return -1;
		got += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)got;
}

int fd_write_at(int fd, const void *data, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, (const char *)data + done, len - done, (off_t)(at + done));

		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_new(int dir_fd, const char *name, const char *text, struct err *err)
{
	cleanup_fd int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(err, "making it") : fd_write_all(fd, text, strlen(text), err);
}

int fd_replace_file(int dir_fd, const char *name, const char *text, struct err *err)
{
	cleanup_free char *fresh = xasprintf(".%s.new", name);

	if (write_new(dir_fd, fresh, text, err) < 0) {
		(void)unlinkat(dir_fd, fresh, 0);
		return -1;
	}
	return renameat(dir_fd, fresh, dir_fd, name) < 0 ? err_sys(err, "naming it") : 0;
}

void fd_touch(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)close(fd);
}
