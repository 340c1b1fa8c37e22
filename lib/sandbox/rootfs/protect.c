/* SPDX-License-Identifier: MIT */
/*
 * protect.c - holds protected names at the top of a writable share by placeholders on the host.
 *
 * Sessions of several servers may use one share, so each holds a shared flock on the folder. The
 * last one gets the exclusive lock and removes the placeholders. A placeholder is recognised by an
 * unusual mode (read-only and sticky), so that one left by a killed launcher is removed later. Its
 * content must be valid for git, which reads it while the session runs.
 */
#include "sandbox/rootfs/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/runnames.h"
#include "sandbox/rootfs/repository.h"

enum { LOCK_TRIES = 50, LOCK_PAUSE_MS = 1, MODULES_DEPTH = 16, MODULES_ENTRIES_MAX = 2000 };
/* Readable for all who may see the share: the user's git would fail, or complain, otherwise. */
enum { FILE_MODE = 01444, IGNORE_MODE = 0444 };

#define IGNORE_NAME ".gitignore"
#define IGNORE_ALL "*\n"

/*
 * If commondir exists, git takes config and hooks from the folder that it names; an empty one makes
 * git fail.
 */
const struct protect_row protect_rows[PROTECT_ROWS] = {
	{ "hooks", NULL },
	{ "config", "" },
	{ "config.worktree", "" },
	{ "commondir", "." },
};

typedef void row_fn(int dir, const struct protect_row *row);

/* ---- one placeholder ---- */

static int open_real_folder(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void write_new(int dir, const char *name, const char *content, mode_t mode)
{
	cleanup_fd int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct err err;

	if (fd < 0)
		return;
	/* A file without its content would stop the user's git. */
	if (fd_write_all(fd, content, strlen(content), &err) < 0)
		(void)unlinkat(dir, name, 0);
	(void)fchmod(fd, mode); /* by fchmod, because the umask changes the mode of open() */
}

/* Fails only where the session could not create the name either. */
static void make_placeholder(int dir, const struct protect_row *row)
{
	cleanup_fd int fd = -1;

	if (row->content != NULL) {
		write_new(dir, row->name, row->content, FILE_MODE);
		return;
	}
	if (mkdirat(dir, row->name, 0700) < 0)
		return;
	fd = open_real_folder(dir, row->name);
	if (fd < 0)
		return;
	write_new(fd, IGNORE_NAME, IGNORE_ALL, IGNORE_MODE);
	(void)fchmod(fd, PROTECT_FOLDER_MODE);
}

/* No other program makes files of these modes. */
static bool is_placeholder(int dir, const struct protect_row *row)
{
	mode_t mode = row->content == NULL ? S_IFDIR | PROTECT_FOLDER_MODE : S_IFREG | FILE_MODE;
	struct stat st;

	return fstatat(dir, row->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid() &&
	       st.st_mode == mode &&
	       (row->content == NULL || st.st_size == (off_t)strlen(row->content));
}

static void remove_ignore(int dir, const struct protect_row *row)
{
	static const struct protect_row ignore = { IGNORE_NAME, IGNORE_ALL };
	cleanup_fd int fd = open_real_folder(dir, row->name);
	struct stat st;

	if (fd < 0 || fstatat(fd, ignore.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_mode != (S_IFREG | IGNORE_MODE) || st.st_size != (off_t)strlen(ignore.content))
		return;
	(void)fchmod(fd, 0700);
	(void)unlinkat(fd, ignore.name, 0);
	(void)fchmod(fd, PROTECT_FOLDER_MODE);
}

static void remove_placeholder(int dir, const struct protect_row *row)
{
	if (!is_placeholder(dir, row))
		return;
	if (row->content == NULL)
		remove_ignore(dir, row);
	(void)unlinkat(dir, row->name, row->content == NULL ? AT_REMOVEDIR : 0);
}

/* ---- all placeholders of a share ---- */

static void each_of_repository(int git, row_fn *fn)
{
	for (size_t i = 0; i < PROTECT_ROWS; i++)
		fn(git, &protect_rows[i]);
}

/* A visit to all repositories below a folder. */
struct visit {
	row_fn *fn;
	int entries_left;
	int problem; /* why a folder could not be read, an errno; 0: none */
};

/* A name that is gone, or no folder, hides none; the session cannot enter a closed one either. */
static void note_problem(struct visit *visit)
{
	if (fd_hides_entries(errno) && errno != EACCES)
		visit->problem = errno;
}

/*
 * Visits the repositories of submodules and worktrees, whose names may contain slashes. When
 * session code moves a repository away, `mv` copies and removes what it can; placeholders are left
 * behind.
 */
static void each_below(struct visit *visit, int parent, const char *name, int depth)
{
	int fd = depth > 0 ? open_real_folder(parent, name) : -1;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool repository;

	if (entries == NULL) {
		if (depth > 0)
			note_problem(visit);
		fd_close(&fd);
		return;
	}
	repository = repository_is(fd);
	errno = 0;
	while (depth > 1 && (entry = fd_next_entry(entries)) != NULL && visit->entries_left-- > 0) {
		/* A submodule may have any name, also that of a folder of a repository. */
		bool inner = repository && repository_holds_none(entry->d_name);

		if (!fd_is_dot(entry->d_name))
			each_below(visit, fd, entry->d_name, inner ? 1 : depth - 1);
	}
	note_problem(visit);
	if (visit->fn == remove_placeholder || repository)
		each_of_repository(fd, visit->fn);
	(void)closedir(entries);
}

/* Returns 0, or an errno when a folder could not be read. */
static int each_placeholder(int share, row_fn *fn)
{
	struct visit visit = { .fn = fn, .entries_left = MODULES_ENTRIES_MAX };
	struct protect_row row = { .name = ".git" };
	/* Opened before the first row makes or removes a placeholder of that name. */
	bool is_made = is_placeholder(share, &row);
	cleanup_fd int git = is_made ? -1 : open_real_folder(share, ".git");

	if (git < 0 && !is_made)
		note_problem(&visit);
	for (size_t i = 0; (row.name = runnames_held(i)) != NULL; i++)
		fn(share, &row);
	if (git < 0)
		return visit.problem;
	each_of_repository(git, fn);
	each_below(&visit, git, "modules", MODULES_DEPTH);
	each_below(&visit, git, "worktrees", MODULES_DEPTH);
	return visit.problem;
}

/* Fails in the way of err_sys() and removes what was made. */
static int undo_hold(int held_own, int problem, struct err *err)
{
	protect_release(&held_own);
	errno = problem;
	return err_sys(err, "reading the repositories of a share");
}

int protect_hold(int share, struct err *err)
{
	/*
	 * A flock belongs to an open file description. The server's descriptor would be one for all
	 * sessions.
	 */
	cleanup_fd int held = openat(share, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int problem;

	if (held < 0)
		return err_sys(err, "opening a share");
	/* Another session holds an exclusive lock only while it removes placeholders. */
	for (int i = 0; flock(held, LOCK_SH | LOCK_NB) < 0 && i < LOCK_TRIES; i++)
		(void)poll(NULL, 0, LOCK_PAUSE_MS);
	problem = each_placeholder(held, make_placeholder);
	return problem == 0 ? fd_steal(&held) : undo_hold(fd_steal(&held), problem, err);
}

void protect_release(int *held)
{
	if (*held >= 0 && flock(*held, LOCK_EX | LOCK_NB) == 0)
		(void)each_placeholder(*held, remove_placeholder);
	fd_close(held);
}
