/* SPDX-License-Identifier: MIT */
#include "sandbox/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/source.h"

enum { LOCK_TRIES = 50, LOCK_PAUSE_MS = 1 };
/* Whoever may see the share may read them: the user's git would fail, or complain, otherwise. */
enum { FOLDER_MODE = 01555, FILE_MODE = 01444 };

struct guarded {
	const char *name;
	const char *content; /* of a placeholder that is a file; NULL: an empty folder */
};

/* Folders even where a file is meant: git neither lists nor adds an empty one. */
static const struct guarded guarded[] = {
	{ ".git", NULL },    { ".claude", NULL },   { ".cursor", NULL },
	{ ".vscode", NULL }, { ".mcp.json", NULL }, { ".envrc", NULL },
};

/*
 * Of a .git that is a repository: the rest of it a session may well write. Where commondir is, git
 * takes config and hooks from the folder it names; without content git fails.
 */
static const struct guarded guarded_in_git[] = {
	{ "hooks", NULL },
	{ "config", "" },
	{ "config.worktree", "" },
	{ "commondir", "." },
};

/* ---- placeholders ---- */

static mode_t placeholder_mode(const struct guarded *row)
{
	return row->content == NULL ? FOLDER_MODE : FILE_MODE;
}

/* Fails only where the session could not create it either. */
static void make_placeholder(int dir, const struct guarded *row)
{
	cleanup_fd int fd = -1;
	struct err err;

	if (row->content != NULL)
		fd = openat(dir, row->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	else if (mkdirat(dir, row->name, 0700) == 0)
		fd = openat(dir, row->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	/* One without what it is to say would stop the user's git. */
	if (row->content != NULL && fd_write_all(fd, row->content, strlen(row->content), &err) < 0)
		(void)unlinkat(dir, row->name, 0);
	(void)fchmod(fd, placeholder_mode(row)); /* not by the mode above: the umask */
}

/* Nobody else makes something that is empty, read-only and sticky. */
static bool is_placeholder(int dir, const struct guarded *row)
{
	mode_t kind = row->content == NULL ? S_IFDIR : S_IFREG;
	struct stat st;

	return fstatat(dir, row->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid() &&
	       st.st_mode == (kind | placeholder_mode(row)) &&
	       (row->content == NULL || st.st_size == (off_t)strlen(row->content));
}

static void remove_placeholder(int dir, const struct guarded *row)
{
	if (is_placeholder(dir, row))
		(void)unlinkat(dir, row->name, row->content == NULL ? AT_REMOVEDIR : 0);
}

static int open_git(int share)
{
	return openat(share, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void each_placeholder(int share, void (*fn)(int dir, const struct guarded *row))
{
	/* Before the first row makes or removes a placeholder of that name. */
	cleanup_fd int git = is_placeholder(share, &guarded[0]) ? -1 : open_git(share);

	for (size_t i = 0; i < ARRAY_SIZE(guarded); i++)
		fn(share, &guarded[i]);
	for (size_t i = 0; git >= 0 && i < ARRAY_SIZE(guarded_in_git); i++)
		fn(git, &guarded_in_git[i]);
}

int protect_hold(int share, struct err *err)
{
	/* A lock belongs to an open file: the server's descriptor would be the same for all. */
	cleanup_fd int held = openat(share, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (held < 0)
		return err_sys(err, "opening a share");
	/* Exclusive for the moment that a removal takes. */
	for (int i = 0; flock(held, LOCK_SH | LOCK_NB) < 0 && i < LOCK_TRIES; i++)
		(void)poll(NULL, 0, LOCK_PAUSE_MS);
	each_placeholder(held, make_placeholder);
	return fd_steal(&held);
}

void protect_release(int *held)
{
	if (*held >= 0 && flock(*held, LOCK_EX | LOCK_NB) == 0)
		each_placeholder(*held, remove_placeholder);
	fd_close(held);
}

/* ---- mounts ---- */

struct walk {
	int root;
	size_t looks;
	size_t mounts;
};

/* Mounts it on itself. The descriptor is of what is there, and not followed if it is a link. */
static int pin(struct walk *walk, const char *path, bool writable, struct err *err)
{
	const struct source_bind how = { .writable = writable, .execute = true };
	cleanup_fd int fd = -1;

	if (walk->mounts++ >= PROTECT_MOUNTS)
		return err_set(err, ERR_LIMIT, "more than %d names to protect in a share",
			       PROTECT_MOUNTS);
	fd = source_open_below(walk->root, path, err);
	return fd < 0 ? -1 : source_bind(fd, path, fd, &how, err);
}

static bool join(char *ret_path, const char *folder, const char *name)
{
	int len = snprintf(ret_path, PATH_MAX, "%s/%s", folder, name);

	return len > 0 && len < PATH_MAX;
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int pin_git(struct walk *walk, const char *git, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	/* A placeholder, or a file that says where the repository is. */
	if (lstat(git, &st) < 0 || !S_ISDIR(st.st_mode) || (st.st_mode & 07777) == FOLDER_MODE)
		return pin(walk, git, false, err);
	if (pin(walk, git, true, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(guarded_in_git); i++)
		if (join(path, git, guarded_in_git[i].name) && is_there(path) &&
		    pin(walk, path, false, err) < 0)
			return -1;
	return 0;
}

static int pin_all(struct walk *walk, const char *folder, struct err *err)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(guarded); i++) {
		if (!join(path, folder, guarded[i].name) || !is_there(path))
			continue;
		if (str_eq(guarded[i].name, ".git") ? pin_git(walk, path, err) < 0
						    : pin(walk, path, false, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_guarded(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(guarded); i++)
		if (str_eq(guarded[i].name, name))
			return true;
	return false;
}

static bool is_folder(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int walk_folder(struct walk *walk, const char *folder, int depth, struct err *err);

static int walk_entries(struct walk *walk, DIR *entries, const char *folder, int depth,
			struct err *err)
{
	const struct dirent *entry;
	char path[PATH_MAX];

	while ((entry = readdir(entries)) != NULL && walk->looks++ < PROTECT_LOOKS) {
		if (str_eq(entry->d_name, ".") || str_eq(entry->d_name, "..") ||
		    is_guarded(entry->d_name) || !is_folder(dirfd(entries), entry))
			continue;
		if (join(path, folder, entry->d_name) &&
		    walk_folder(walk, path, depth + 1, err) < 0)
			return -1;
	}
	return 0;
}

/* `folder` is under a mount of ours, where nobody of the session is yet. */
static int walk_folder(struct walk *walk, const char *folder, int depth, struct err *err)
{
	DIR *entries;
	int fd;
	int rc;

	if (pin_all(walk, folder, err) < 0)
		return -1;
	if (depth >= PROTECT_DEPTH)
		return 0;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	entries = fd < 0 ? NULL : fdopendir(fd);
	if (entries == NULL) {
		fd_close(&fd);
		return 0; /* nor can the session look into it */
	}
	rc = walk_entries(walk, entries, folder, depth, err);
	(void)closedir(entries);
	return rc;
}

int protect_mount(int root, const char *path, struct err *err)
{
	struct walk walk = { .root = root };

	if (walk_folder(&walk, path, 0, err) < 0)
		return err_wrap(err, "protecting the share '%s'", path);
	return 0;
}
