/* SPDX-License-Identifier: MIT */
/*
 * database.c - makes a database useless for the connections that have it open. SQLite asks before
 * each statement whether its cache is still valid: it compares the header of the file (atomic
 * commit, section 3.2 of sqlite.org/atomiccommit.html), or of the index of the log
 * (sqlite.org/walformat.html). Where these are zeros, it reads the file anew, and finds that it is
 * no database. It also refuses to write to a database whose file has lost its name.
 */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "logs.h"
#include "unlock.h"
#include "workspace/dblogs.h"

enum { HEADER_MAX = 136 }; /* a database's header has 100 bytes, that of a log's index 136 */

/* Opens a regular file. Returns -1 and a size of 0 where there is none: a folder is no log. */
static int open_file(int dir_fd, const char *name, struct stat *ret_st)
{
	cleanup_fd int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode))
		return fd_steal(&fd);
	*ret_st = (struct stat){ .st_size = 0 };
	return -1;
}

bool database_is(int dir_fd, const char *name)
{
	struct stat st;
	cleanup_fd int fd = open_file(dir_fd, name, &st);

	return fd >= 0 && logs_is_database(fd);
}

/* Compares a file of both folders. A missing file counts as an empty one. */
static bool is_same_file(int dir_fd, int other_fd, const char *name)
{
	struct stat st;
	struct stat other_st;
	cleanup_fd int fd = open_file(dir_fd, name, &st);
	cleanup_fd int other = open_file(other_fd, name, &other_st);

	if (st.st_size != other_st.st_size)
		return false;
	return fd < 0 || other < 0 || copy_is_same(fd, other, program_alive);
}

bool database_is_same(int dir_fd, int other_fd, const char *name)
{
	bool same = is_same_file(dir_fd, other_fd, name);

	for (size_t i = 0; same && i < DBLOGS_COUNT; i++) {
		cleanup_free char *log = dblogs_name(name, i);

		same = is_same_file(dir_fd, other_fd, log);
	}
	return same;
}

static bool is_duckdb(int dir_fd, const char *name)
{
	struct stat st;
	cleanup_fd int fd = open_file(dir_fd, name, &st);

	return fd >= 0 && logs_is_duckdb(fd);
}

/*
 * Looks for what a connection that is open would damage. SQLite rolls a journal back and removes
 * it, and reads a log of pages with its own file. DuckDB removes its log when it closes or writes a
 * checkpoint, also a log that a newer connection made. The index of a log has no rows.
 */
bool database_is_bound(int dir_fd, const char *name)
{
	if (is_duckdb(dir_fd, name))
		return true;
	for (size_t i = 0; i < DBLOGS_COUNT; i++) {
		cleanup_free char *log = dblogs_name(name, i);
		struct stat st;

		if (strcmp(log + strlen(name), "-shm") != 0 &&
		    fstatat(dir_fd, log, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    st.st_size > 0)
			return true;
	}
	return false;
}

/* Removes a file, and empties its header unless it has other names, under which it may be right. */
static int remove_file(int dir_fd, const char *name)
{
	static const char zeros[HEADER_MAX];
	struct stat st;
	bool alone = fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		     st.st_nlink == 1;
	cleanup_fd int fd = alone ? unlock_and_open_file(dir_fd, name, O_RDWR) : -1;

	if (alone && fd < 0 && errno != ENOENT)
		return -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 1 &&
	    pwrite(fd, zeros, size_min(sizeof(zeros), (size_t)st.st_size), 0) < 0)
		return -1;
	return unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT || errno == EISDIR ? 0 : -1;
}

int database_remove(int dir_fd, const char *name)
{
	int rc = remove_file(dir_fd, name);

	for (size_t i = 0; rc == 0 && i < DBLOGS_COUNT; i++) {
		cleanup_free char *log = dblogs_name(name, i);

		rc = remove_file(dir_fd, log);
	}
	return rc;
}
