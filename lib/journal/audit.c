/* SPDX-License-Identifier: MIT */
/*
 * audit.c - appends a line under a flock, and repairs the file's end first. An incomplete line that
 * begins like ours comes from a killed server and is removed; any other incomplete line belongs to
 * the user and gets a line end.
 */
#include "journal/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/audit_socket.h"
#include "json/write.h"

enum { LOCK_WAIT_MS = 1000, LOCK_PAUSE_NS = 1000000, CHUNK = 4096 };

/* The start of every line of ours: members are written in the order in which they were set. */
static const char line_start[] = "{\"v\":";

static int open_file(const char *path, int create, struct err *err)
{
	const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	cleanup_fd int fd = open(path, flags | create, 0600);
	struct stat st;

	if (fd < 0)
		return err_sys(err, "opening '%s'", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, ERR_DENIED, "'%s' is not a regular file of this user", path);
	return fd_steal(&fd);
}

/* Checks if a file can be made in its folder. */
static int check_folder(const char *path, struct err *err)
{
	cleanup_free char *folder = xstrdup(path);
	char *slash = strrchr(folder, '/');

	slash[slash == folder ? 1 : 0] = '\0';
	if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0)
		return err_sys(err, "making '%s'", path);
	return 0;
}

static int check_file(const char *path, struct err *err)
{
	cleanup_fd int fd = open_file(path, 0, err);

	if (fd < 0 && err->code == ERR_SYSTEM && err->sys == ENOENT)
		return check_folder(path, err);
	return fd < 0 ? -1 : 0;
}

static int check_target(const char *target, struct err *err)
{
	return audit_socket_is(target) ? audit_socket_check(target, err) : check_file(target, err);
}

char *audit_refusal(const char *target)
{
	struct err err = { .sys = 0 };

	return check_target(target, &err) < 0 ? audit_refuse(target, &err) : NULL;
}

const char *audit_kind(const char *target)
{
	return audit_socket_is(target) ? "log" : "file";
}

char *audit_refuse(const char *target, const struct err *err)
{
	const char *what = audit_kind(target);

	return xasprintf(
		"What runs cannot be recorded in the %s of PTYCELL_AUDIT, so nothing runs: "
		"%s. Correct the %s and send it again, or correct PTYCELL_AUDIT and start ptycell "
		"again.",
		what, err->msg, what);
}

/* Locks the file. Other servers hold the lock while they write a line. */
static int lock(int fd, const char *path, struct err *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	uint64_t until = clock_ms() + LOCK_WAIT_MS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || clock_ms() >= until)
			return err_sys(err, "locking '%s'", path);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

/* Returns where the incomplete last line begins, or `size` if it is complete. */
static off_t torn_from(int fd, off_t size)
{
	char bytes[CHUNK];

	for (off_t at = size; at > 0;) {
		off_t len = at < CHUNK ? at : CHUNK;
		const char *end;

		if (pread(fd, bytes, (size_t)len, at - len) != (ssize_t)len)
			return size;
		end = memrchr(bytes, '\n', (size_t)len);
		if (end != NULL)
			return at - len + (end - bytes) + 1;
		at -= len;
	}
	return 0;
}

static bool is_ours(int fd, off_t from)
{
	char start[sizeof(line_start) - 1];

	return pread(fd, start, sizeof(start), from) == (ssize_t)sizeof(start) &&
	       memcmp(start, line_start, sizeof(start)) == 0;
}

/*
 * Repairs the file's end: removes an incomplete line of a killed server, and ends any other
 * incomplete line, which is the user's.
 */
static int mend_tail(int fd, off_t *size, struct err *err)
{
	off_t from = torn_from(fd, *size);

	if (from == *size)
		return 0;
	if (is_ours(fd, from) && ftruncate(fd, from) == 0) {
		*size = from;
		return 0;
	}
	*size += 1;
	return fd_write_all(fd, "\n", 1, err);
}

static int append_to_file(const char *path, const json_t *line, struct err *err)
{
	cleanup_fd int fd = open_file(path, O_CREAT, err);
	cleanup_free char *text = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || lock(fd, path, err) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at '%s'", path);
	if (mend_tail(fd, &st.st_size, err) < 0)
		return err_wrap(err, "'%s'", path);
	text = json_write_text(line);
	len = strlen(text);
	text[len] = '\n'; /* replaces the NUL: the length is known */
	if (fd_write_all(fd, text, len + 1, err) == 0)
		return 0;
	(void)!ftruncate(fd, st.st_size);
	return err_wrap(err, "'%s'", path);
}

int audit_append(const char *target, const json_t *line, struct err *err)
{
	return audit_socket_is(target) ? audit_socket_send(target, line, err)
				       : append_to_file(target, line, err);
}
