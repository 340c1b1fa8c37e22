/* SPDX-License-Identifier: MIT */
/*
 * copy.c - copies bytes and names the copy. A copy is written to a file without a name (O_TMPFILE)
 * and linked into place, so a copy that is cut short leaves nothing. File systems without such
 * files get a hidden name instead. Bytes are shared by FICLONE where possible, else copied by
 * copy_file_range(), else by reading, hole by hole. A name that is taken is never overwritten,
 * unless its file is known as an earlier copy.
 */
#include "copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/beneath.h"
#include "workspace/keepname.h"
#include "workspace/random_name.h"

enum { READ_SIZE = 128 << 10, STEP_SIZE = 4 << 20, COMPARE_SIZE = 64 << 10, NAMES_MAX = 1000 };

json_int_t copy_mtime_ns(const struct stat *st)
{
	return (json_int_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

struct copy_known copy_describe(const struct stat *st)
{
	return (struct copy_known){ .known = true,
				    .ino = (json_int_t)st->st_ino,
				    .mtime_ns = copy_mtime_ns(st),
				    .size = st->st_size };
}

/* ---- bytes ---- */

static void report_nothing(void)
{
}

static int copy_by_reading(int from, int to, off_t left, void (*moved)(void), struct err *err)
{
	cleanup_free char *data = xcalloc(1, READ_SIZE);

	while (left > 0) {
		ssize_t n = read(from, data, left < READ_SIZE ? (size_t)left : READ_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "reading it");
		if (n == 0)
			return 0;
		if (fd_write_all(to, data, (size_t)n, err) < 0)
			return -1;
		left -= n;
		moved();
	}
	return 0;
}

/* Copies from the current positions of both files. */
static int copy_stretch(int from, int to, off_t left, void (*moved)(void), struct err *err)
{
	while (left > 0) {
		ssize_t n = copy_file_range(from, NULL, to, NULL,
					    left < STEP_SIZE ? (size_t)left : STEP_SIZE, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return err_sys(err, "writing it");
		/* Some file systems return 0 where they do not support the call. */
		if (n <= 0)
			return copy_by_reading(from, to, left, moved, err);
		left -= n;
		moved();
	}
	return 0;
}

/* Keeps holes. A file system without SEEK_DATA reports data everywhere. */
static int copy_data(int from, int to, off_t size, void (*moved)(void), struct err *err)
{
	for (off_t at = 0; at < size;) {
		off_t data = lseek(from, at, SEEK_DATA);
		off_t hole;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0)
			data = at;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || hole > size)
			hole = size;
		if (lseek(from, data, SEEK_SET) < 0 || lseek(to, data, SEEK_SET) < 0)
			return err_sys(err, "copying it");
		if (copy_stretch(from, to, hole - data, moved, err) < 0)
			return -1;
		at = hole;
	}
	return 0;
}

/*
 * Copies `size` bytes: of a file that shrinks meanwhile as many as are left, of one that grows the
 * first ones.
 */
static int copy_moving(int from, int to, off_t size, void (*moved)(void), struct err *err)
{
	struct stat st;

	if (ioctl(to, FICLONE, from) != 0) {
		if (copy_data(from, to, size, moved, err) < 0)
			return -1;
		if (fstat(from, &st) == 0 && st.st_size < size)
			size = st.st_size;
	}
	return ftruncate(to, size) == 0 ? 0 : err_sys(err, "writing it");
}

int copy_bytes(int from, int to, off_t left, struct err *err)
{
	return copy_moving(from, to, left, report_nothing, err);
}

bool copy_is_same(int one, int other, void (*moved)(void))
{
	char a[COMPARE_SIZE];
	char b[COMPARE_SIZE];

	for (off_t at = 0;;) {
		ssize_t n = pread(one, a, sizeof(a), at);

		if (n < 0 || pread(other, b, sizeof(b), at) != n)
			return false;
		if (n == 0)
			return true;
		if (memcmp(a, b, (size_t)n) != 0)
			return false;
		at += n;
		moved();
	}
}

static int put_suffix(int to, const char *suffix, struct err *err)
{
	if (suffix == NULL)
		return 0;
	if (lseek(to, 0, SEEK_END) < 0)
		return err_sys(err, "writing it");
	return fd_write_all(to, suffix, strlen(suffix), err);
}

/*
 * The unfinished copy is a file without a name where the file system supports it. Nothing is left
 * of it when the copy is cut short. Elsewhere it is a hidden file.
 */
struct draft {
	int fd;
	int dir;
	char *hidden; /* NULL for a file without a name */
	bool possible;
};

static void draft_release(struct draft *draft)
{
	fd_close(&draft->fd);
	if (draft->hidden != NULL)
		(void)unlinkat(draft->dir, draft->hidden, 0);
	free(draft->hidden);
}
#define cleanup_draft __attribute__((cleanup(draft_release)))

static int draft_open(struct draft *draft, struct err *err)
{
	if (draft->hidden == NULL)
		draft->fd = openat(draft->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	else
		draft->fd = openat(draft->dir, draft->hidden,
				   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return draft->fd < 0 ? err_sys(err, "making a file") : 0;
}

/* Returns -1 and sets errno: EEXIST when the name is taken. */
static int draft_name(struct draft *draft, const char *name)
{
	char path[64];

	if (draft->hidden != NULL) {
		if (beneath_rename_new(draft->dir, draft->hidden, name) < 0)
			return -1;
		mem_cleanup(&draft->hidden);
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", draft->fd);
	return linkat(AT_FDCWD, path, draft->dir, name, AT_SYMLINK_FOLLOW);
}

static int draft_replace(struct draft *draft, const char *name)
{
	if (draft->hidden == NULL) {
		cleanup_free char *hidden = random_name_new(COPY_HALF_PREFIX);

		if (draft_name(draft, hidden) < 0)
			return -1;
		draft->hidden = mem_steal(&hidden);
	}
	if (renameat(draft->dir, draft->hidden, draft->dir, name) < 0)
		return -1;
	mem_cleanup(&draft->hidden);
	return 0;
}

static int write_draft(const struct copy_source *source, int to, struct err *err)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, source->stat.st_mtim };

	if (copy_moving(source->fd, to, source->stat.st_size, source->moved, err) < 0 ||
	    put_suffix(to, source->suffix, err) < 0)
		return -1;
	(void)futimens(to, times);
	if (source->durable && fsync(to) < 0)
		return err_sys(err, "writing it");
	return 0;
}

/* ---- names ---- */

bool copy_is_known(int dir_fd, const char *name, const struct copy_known *known)
{
	struct stat st;

	return known->known && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && (json_int_t)st.st_ino == known->ino &&
	       copy_mtime_ns(&st) == known->mtime_ns && st.st_size == known->size;
}

static char *place(struct draft *draft, const char *name, const struct copy_known *known,
		   struct err *err)
{
	if (copy_is_known(draft->dir, name, known)) {
		if (draft_replace(draft, name) == 0)
			return xstrdup(name);
		(void)err_sys(err, "replacing the earlier copy");
		return NULL;
	}
	for (int number = 1; number < NAMES_MAX; number++) {
		char *taken = keepname_numbered(name, number);

		if (draft_name(draft, taken) == 0)
			return taken;
		mem_cleanup(&taken);
		if (errno != EEXIST)
			break;
	}
	(void)err_sys(err, "naming the copy");
	return NULL;
}

int copy_enter(int dir_fd, const char *name, char **ret_taken, struct err *err)
{
	for (int number = 1; number < NAMES_MAX; number++) {
		cleanup_free char *taken = keepname_numbered(name, number);
		int fd = beneath_enter(dir_fd, taken, err);

		if (fd >= 0)
			*ret_taken = mem_steal(&taken);
		if (fd >= 0 || err->code != ERR_DENIED)
			return fd;
	}
	return -1;
}

char *copy_move(int dir_fd, const char *name, const char *to, const struct copy_known *known,
		struct err *err)
{
	if (known != NULL && !copy_is_known(dir_fd, name, known)) {
		(void)err_set(err, ERR_DENIED, "it is another's");
		return NULL;
	}
	for (int number = 1; number < NAMES_MAX; number++) {
		char *taken = keepname_numbered(to, number);

		if (beneath_rename_new(dir_fd, name, taken) == 0)
			return taken;
		mem_cleanup(&taken);
		if (errno != EEXIST)
			break;
	}
	(void)err_sys(err, "moving it");
	return NULL;
}

/*
 * Returns true when the known copy has the same bytes and got the new mtime. Comparing costs less
 * than writing where bytes cannot be shared.
 */
static bool is_touched(const struct copy_source *source, const struct draft *draft,
		       const char *name, const struct copy_known *known)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, source->stat.st_mtim };
	cleanup_fd int kept = -1;

	if (source->suffix != NULL || source->stat.st_size != known->size ||
	    !copy_is_known(draft->dir, name, known) || ioctl(draft->fd, FICLONE, source->fd) == 0)
		return false;
	kept = openat(draft->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return kept >= 0 && copy_is_same(source->fd, kept, source->moved) &&
	       futimens(kept, times) == 0;
}

/*
 * Tries one kind of draft. Sets draft->possible to false where the file system does not support it.
 */
static char *copy_by(const struct copy_source *source, struct draft *draft, const char *name,
		     const struct copy_known *known, struct err *err)
{
	char *taken = NULL;

	draft->possible = draft_open(draft, err) == 0;
	if (draft->possible && is_touched(source, draft, name, known))
		return xstrdup(name);
	if (!draft->possible || write_draft(source, draft->fd, err) < 0)
		return NULL;
	taken = place(draft, name, known, err);
	draft->possible = taken != NULL;
	return taken;
}

int copy_file(const struct copy_source *source, int dir_fd, const char *name,
	      const struct copy_known *known, struct copy_made *ret_made, struct err *err)
{
	cleanup_draft struct draft unnamed = { .fd = -1, .dir = dir_fd };
	cleanup_draft struct draft hidden = { .fd = -1, .dir = dir_fd };
	struct copy_made made = { .name = copy_by(source, &unnamed, name, known, err) };

	if (made.name == NULL && !unnamed.possible && lseek(source->fd, 0, SEEK_SET) == 0) {
		hidden.hidden = random_name_new(COPY_HALF_PREFIX);
		made.name = copy_by(source, &hidden, name, known, err);
	}
	if (made.name == NULL)
		return -1;
	if (fstatat(dir_fd, made.name, &made.stat, AT_SYMLINK_NOFOLLOW) < 0) {
		mem_cleanup(&made.name);
		return err_sys(err, "looking at the copy");
	}
	*ret_made = made;
	return 0;
}

void copy_remove_halves(int folder_fd, int depth)
{
	DIR *folder = fd_list(folder_fd);
	const struct dirent *entry;

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		cleanup_fd int below = -1;

		if (random_name_matches(entry->d_name, COPY_HALF_PREFIX)) {
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
			continue;
		}
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || depth == COPY_DEPTH_MAX)
			continue;
		below = openat(dirfd(folder), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			copy_remove_halves(below, depth + 1);
	}
	(void)closedir(folder);
}
