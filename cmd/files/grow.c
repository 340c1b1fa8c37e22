/* SPDX-License-Identifier: MIT */
/*
 * grow.c - replaces the end of a file. Room on the disk is reserved before anything is changed, and
 * a write that fails all the same is undone. If this process is killed in the write, the end is
 * torn: the next server detects that by its JSON and writes the file anew (finish.c).
 */
#include "grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

/* Opens the earlier copy. Returns -1 when it is another file, or was changed, or has two names. */
static int open_known(int dir_fd, const char *name, const struct copy_known *known,
		      struct stat *ret_stat)
{
	cleanup_fd int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret_stat) < 0 || !S_ISREG(ret_stat->st_mode) ||
	    ret_stat->st_nlink != 1 || (json_int_t)ret_stat->st_ino != known->ino ||
	    copy_mtime_ns(ret_stat) != known->mtime_ns || ret_stat->st_size != known->size)
		return -1;
	return fd_steal(&fd);
}

static int read_range(int fd, off_t from, off_t to, struct buf *out, struct err *err)
{
	size_t len = (size_t)(to - from);
	char *room = buf_reserve(out, len, err);

	if (room == NULL)
		return -1;
	if (fd_read_at(fd, room, len, (uint64_t)from) != (ssize_t)len)
		return err_sys(err, "reading it");
	buf_commit(out, len);
	return 0;
}

static int write_range(int fd, const struct buf *data, off_t at, struct err *err)
{
	int result = fd_write_at(fd, data->data, data->len, (uint64_t)at);

	return result < 0 ? err_sys(err, "writing it") : 0;
}

static int reserve(int fd, off_t at, size_t len, struct err *err)
{
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, at, (off_t)len) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return err_sys(err, "writing it");
	return 0; /* not every file system reserves */
}

static void undo(int fd, const struct buf *old, off_t at, const struct stat *before)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, before->st_mtim };
	struct err ignored;

	if (write_range(fd, old, at, &ignored) == 0 && ftruncate(fd, before->st_size) == 0)
		(void)futimens(fd, times);
}

static int write_end(int fd, const struct buf *fresh, off_t at, off_t before, struct err *err)
{
	if (reserve(fd, at, fresh->len, err) < 0 || write_range(fd, fresh, at, err) < 0)
		return -1;
	if (at + (off_t)fresh->len < before && ftruncate(fd, at + (off_t)fresh->len) < 0)
		return err_sys(err, "writing it");
	return 0;
}

int grow_file(const struct copy_source *source, const struct grow_copy *copy,
	      struct copy_made *ret_made, struct err *err)
{
	const json_int_t stays = copy->stays;
	cleanup_buf struct buf old = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf fresh = BUF_INIT(BUF_UNBOUNDED);
	struct stat before;
	cleanup_fd int fd = open_known(copy->dir_fd, copy->name, copy->known, &before);

	ret_made->name = NULL;
	if (fd < 0 || stays <= 0 || stays > copy->known->size || stays > source->stat.st_size)
		return 0;
	if (read_range(fd, stays, before.st_size, &old, err) < 0 ||
	    read_range(source->fd, stays, source->stat.st_size, &fresh, err) < 0)
		return -1;
	buf_puts(&fresh, source->suffix);
	if (write_end(fd, &fresh, stays, before.st_size, err) < 0) {
		undo(fd, &old, stays, &before);
		return -1;
	}
	if ((source->durable && fsync(fd) < 0) || fstat(fd, &ret_made->stat) < 0)
		return err_sys(err, "writing it");
	ret_made->name = xstrdup(copy->name);
	return 0;
}
