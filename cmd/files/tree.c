/* SPDX-License-Identifier: MIT */
/*
 * tree.c - copies, replaces and removes folders. New folders have a hidden name and a lock. A
 * hidden folder without a lock is a leftover and may be removed. tree_replace() swaps two folders
 * by RENAME_EXCHANGE, so that no reader finds the name missing. File systems that cannot swap get a
 * removal and a rename instead.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "workspace/random_name.h"

#define NEW_PREFIX ".new-"
#define OLD_PREFIX ".old-"

enum { MAKE_TRIES = 5 };

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1U << 1)
#endif

struct walk {
	struct tree_limits left;
	struct buf *manifest; /* may be NULL */
	struct buf path;      /* of the folder that is being copied, with a slash at the end */
	int depth;
};

static int open_folder(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns -1, too, when another process removed it as a leftover before it was locked. */
static int make_locked(int dir_fd, const char *name)
{
	cleanup_fd int fd = mkdirat(dir_fd, name, 0700) < 0 ? -1 : open_folder(dir_fd, name);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0 || st.st_nlink == 0 ||
	    fchmod(fd, TREE_FOLDER_MODE) < 0)
		return -1;
	return fd_steal(&fd);
}

int tree_make(int dir_fd, char **ret_name, struct err *err)
{
	for (int i = 0; i < MAKE_TRIES; i++) {
		char *name = random_name_new(NEW_PREFIX);
		int fd = make_locked(dir_fd, name);

		if (fd >= 0) {
			*ret_name = name;
			return fd;
		}
		free(name);
	}
	return err_sys(err, "making a folder for packages");
}

bool tree_is_hidden(const char *name)
{
	return random_name_matches(name, NEW_PREFIX) || random_name_matches(name, OLD_PREFIX);
}

char *tree_hide(int dir_fd, const char *name)
{
	cleanup_free char *hidden = random_name_new(OLD_PREFIX);

	return renameat(dir_fd, name, dir_fd, hidden) < 0 ? NULL : mem_steal(&hidden);
}

/* ---- copying ---- */

static bool is_plain(const char *name)
{
	for (; *name != '\0'; name++)
		if ((unsigned char)*name < ' ' || *name == 127)
			return false;
	return true;
}

static void note_file(struct walk *walk, const char *name, const struct stat *st)
{
	if (walk->manifest != NULL)
		buf_putf(walk->manifest, "%jd %jd %o %s%s\n", (intmax_t)st->st_size,
			 (intmax_t)copy_mtime_ns(st), (unsigned int)st->st_mode & 07777,
			 buf_str(&walk->path), name);
}

static int take_room(struct walk *walk, const struct stat *st, struct err *err)
{
	if ((uint64_t)st->st_size > walk->left.bytes)
		return err_set(err, ERR_LIMIT, "they are larger than PTYCELL_INSTALL_MAX allows");
	if (walk->left.files == 0)
		return err_set(err, ERR_LIMIT,
			       "they are more files than a set of packages may have");
	walk->left.bytes -= (uint64_t)st->st_size;
	walk->left.files--;
	return 0;
}

static int copy_one(struct walk *walk, int from_dir, int to_dir, const char *name, struct err *err)
{
	struct stat st;
	cleanup_fd int from =
		openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	cleanup_fd int to = -1;

	if (from < 0 || fstat(from, &st) < 0)
		return err_sys(err, "reading '%s'", name);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (take_room(walk, &st, err) < 0)
		return -1;
	to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return err_sys(err, "making '%s'", name);
	if (copy_bytes(from, to, st.st_size, err) < 0)
		return -1;
	/* Compiled Python files refer to their source by its mtime. */
	if (fchmod(to, (st.st_mode & 0111) != 0 ? TREE_PROGRAM_MODE : TREE_FILE_MODE) < 0 ||
	    futimens(to, (struct timespec[]){ st.st_mtim, st.st_mtim }) < 0 || fstat(to, &st) < 0)
		return err_sys(err, "making '%s'", name);
	note_file(walk, name, &st);
	return 0;
}

static int copy_folder(struct walk *walk, int from, int to, struct err *err);

static int copy_below(struct walk *walk, int from_dir, int to_dir, const char *name,
		      struct err *err)
{
	cleanup_fd int from =
		openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_fd int to = -1;
	size_t len = walk->path.len;
	int result;

	if (from < 0 || mkdirat(to_dir, name, 0700) < 0)
		return err_sys(err, "making the folder '%s'", name);
	to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0 || fchmod(to, TREE_FOLDER_MODE) < 0)
		return err_sys(err, "making the folder '%s'", name);
	if (++walk->depth > TREE_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "the packages have folders that lie too deep");
	buf_putf(&walk->path, "%s/", name);
	result = copy_folder(walk, from, to, err);
	walk->path.len = len;
	walk->path.data[len] = '\0';
	walk->depth--;
	return result;
}

static int copy_entry(struct walk *walk, int from, int to, const char *name, struct err *err)
{
	struct stat st;

	if (fd_is_dot(name))
		return 0;
	if (!is_plain(name))
		return err_set(err, ERR_INVALID, "a file of the packages has no usable name");
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "looking at '%s'", name);
	if (S_ISDIR(st.st_mode))
		return copy_below(walk, from, to, name, err);
	return S_ISREG(st.st_mode) ? copy_one(walk, from, to, name, err) : 0;
}

static int copy_folder(struct walk *walk, int from, int to, struct err *err)
{
	DIR *dir = fd_list(from);
	const struct dirent *entry;
	int result = 0;

	if (dir == NULL)
		return err_sys(err, "reading a folder");
	while (result == 0 && (entry = fd_next_entry(dir)) != NULL)
		result = copy_entry(walk, from, to, entry->d_name, err);
	if (result == 0 && errno != 0)
		result = err_sys(err, "reading a folder");
	(void)closedir(dir);
	return result;
}

int tree_copy(int from, int to, const struct tree_limits *limits, struct buf *manifest,
	      struct err *err)
{
	struct walk walk = { .left = *limits,
			     .manifest = manifest,
			     .path = BUF_INIT(BUF_UNBOUNDED) };
	int result;

	buf_puts(&walk.path, "");
	result = copy_folder(&walk, from, to, err);
	buf_release(&walk.path);
	return result;
}

bool tree_matches(const struct stat *st, const char *size, const char *mtime, const char *mode)
{
	return S_ISREG(st->st_mode) && strtoll(size, NULL, 10) == (long long)st->st_size &&
	       strtoll(mtime, NULL, 10) == (long long)copy_mtime_ns(st) &&
	       strtoul(mode, NULL, 8) == (st->st_mode & 07777);
}

/* ---- removing, replacing ---- */

static void remove_below(int fd, int depth);

static void remove_entry(int dir_fd, const char *name, int depth)
{
	cleanup_fd int fd = -1;

	if (unlinkat(dir_fd, name, 0) == 0 || depth > TREE_DEPTH_MAX + 1)
		return;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	remove_below(fd, depth + 1);
	(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

static void remove_below(int fd, int depth)
{
	DIR *dir = fd_list(fd);
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (!fd_is_dot(entry->d_name))
			remove_entry(fd, entry->d_name, depth);
	(void)closedir(dir);
}

void tree_remove(int dir_fd, const char *name)
{
	remove_entry(dir_fd, name, 0);
}

int tree_replace(int dir_fd, const char *name, const char *to, struct err *err)
{
	if (syscall(SYS_renameat2, dir_fd, name, dir_fd, to, RENAME_EXCHANGE) == 0) {
		tree_remove(dir_fd, name);
		return 0;
	}
	if (errno == ENOSYS || errno == EINVAL) /* not every file system can swap */
		tree_remove(dir_fd, to);
	if (renameat(dir_fd, name, dir_fd, to) == 0)
		return 0;
	return err_sys(err, "putting the packages in place");
}
