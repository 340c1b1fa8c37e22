/* SPDX-License-Identifier: MIT */
/*
 * workspace.c - makes and opens the folders of a session. The folder of packages exists from the
 * start, because an interpreter ignores folders of its path that it did not find once.
 */
#include "workspace/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/aside.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/keeplog.h"
#include "workspace/lasting.h"
#include "workspace/random_name.h"

#define TEMPORARY_PREFIX ".ptycell-"

/*
 * Read by a session that may run as another user (sandbox/namespaces/uid_map.h); the folder above
 * is 0700.
 */
enum { READ_MODE = 0755 };

struct workspace {
	const struct home *home;
	int data_fd;
	int spool_fd;
	int packages_fd;
	int journal_fd;
	char *name; /* relative to home_fd() */
	char *data_path;
	char *spool_path;
	char *packages_path;
	char *tmp_path;
	char *host_data_path;
	char *host_spool_path;
	char *host_packages_path;
};

static int make_folder(int dir_fd, const char *name, mode_t mode, int *ret_fd, struct err *err)
{
	int fd;

	if (mkdirat(dir_fd, name, mode) < 0)
		return err_sys(err, "making a session's folder '%s'", name);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return err_sys(err, "opening a session's folder '%s'", name);
	*ret_fd = fd;
	return 0;
}

/*
 * Makes the folders of packages. They must exist from the start: an interpreter ignores folders of
 * its path that it did not find once.
 */
static int make_packages(int dir_fd, struct err *err)
{
	static const char *const names[] = { "python", "javascript", "r", ASK_FOLDER, BELL_FOLDER };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_fd int fd = -1;

		if (make_folder(dir_fd, names[i], READ_MODE, &fd, err) < 0)
			return -1;
	}
	return 0;
}

static int make_tree(struct workspace *workspace, int sessions_fd, const char *random,
		     struct err *err)
{
	cleanup_fd int top = -1;
	cleanup_fd int input = -1;
	cleanup_fd int output = -1;

	if (make_folder(sessions_fd, random, home_folder_mode(), &top, err) < 0)
		return -1;
	if (make_folder(top, "data", 0700, &workspace->data_fd, err) < 0 ||
	    make_folder(top, "spool", READ_MODE, &workspace->spool_fd, err) < 0 ||
	    make_folder(top, "packages", READ_MODE, &workspace->packages_fd, err) < 0 ||
	    make_folder(top, "journal", 0700, &workspace->journal_fd, err) < 0 ||
	    make_folder(workspace->data_fd, "input", 0700, &input, err) < 0 ||
	    make_folder(workspace->data_fd, "output", 0700, &output, err) < 0)
		return -1;
	/*
	 * Without a root of its own, a session's Node finds its modules by this link; see policy.h.
	 */
	if (symlinkat("packages/javascript/node_modules", top, "node_modules") < 0)
		return err_sys(err, "making a session's folder");
	return make_packages(workspace->packages_fd, err);
}

static struct workspace *allocate(struct home *home, const char *random)
{
	struct workspace *workspace = xcalloc(1, sizeof(*workspace));

	workspace->home = home;
	workspace->data_fd = -1;
	workspace->spool_fd = -1;
	workspace->packages_fd = -1;
	workspace->journal_fd = -1;
	workspace->name = xasprintf("%s/sessions/%s", home_server_name(home), random);
	workspace->host_data_path = xasprintf("%s/%s/data", home_path(home), workspace->name);
	workspace->host_spool_path = xasprintf("%s/%s/spool", home_path(home), workspace->name);
	workspace->host_packages_path =
		xasprintf("%s/%s/packages", home_path(home), workspace->name);
	workspace->data_path = xstrdup(workspace->host_data_path);
	workspace->spool_path = xstrdup(workspace->host_spool_path);
	workspace->packages_path = xstrdup(workspace->host_packages_path);
	return workspace;
}

struct workspace *workspace_new(struct home *home, struct err *err)
{
	cleanup_free char *random = random_name_new("");
	struct workspace *workspace = allocate(home, random);

	if (make_tree(workspace, home_sessions_fd(home), random, err) < 0) {
		workspace_discard(workspace);
		return NULL;
	}
	return workspace;
}

/* ---- the folder of an ended session ---- */

static int open_made(int top, const char *name, mode_t mode, int *ret_fd, struct err *err)
{
	struct stat st;

	/* Code may have taken all rights from its folder. It cannot replace it: `top` is ours. */
	if (fstatat(top, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "looking at a session's folder '%s'", name);
	if (!S_ISDIR(st.st_mode) ||
	    ((st.st_mode & 0777) != mode && fchmodat(top, name, mode, 0) < 0))
		return err_set(err, ERR_DENIED, "a session's folder '%s' is not as it was made",
			       name);
	*ret_fd = beneath_open(top, name, O_RDONLY | O_DIRECTORY, 0);
	return *ret_fd < 0 ? err_sys(err, "opening a session's folder '%s'", name) : 0;
}

/* Makes the folders that a session of an earlier version has not. */
static void make_later(int packages_fd)
{
	static const char *const names[] = { ASK_FOLDER, BELL_FOLDER };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_fd int fd = -1;
		struct err ignored;

		(void)!make_folder(packages_fd, names[i], READ_MODE, &fd, &ignored);
	}
}

static int open_tree(struct workspace *workspace, const char *random, struct err *err)
{
	cleanup_fd int top =
		beneath_open(home_sessions_fd(workspace->home), random, O_RDONLY | O_DIRECTORY, 0);

	if (top < 0)
		return err_sys(err, "opening a session's folder");
	if (fchmod(top, home_folder_mode()) < 0)
		return err_sys(err, "opening a session's folder to its session");
	if (open_made(top, "data", 0700, &workspace->data_fd, err) < 0 ||
	    open_made(top, "spool", READ_MODE, &workspace->spool_fd, err) < 0 ||
	    open_made(top, "packages", READ_MODE, &workspace->packages_fd, err) < 0 ||
	    open_made(top, "journal", 0700, &workspace->journal_fd, err) < 0)
		return -1;
	make_later(workspace->packages_fd);
	return 0;
}

/* Renames `aside` to `data`, if the session's server ended while its cells ran again. */
static int settle_aside(const struct home *home, const char *name, struct err *err)
{
	cleanup_fd int session =
		beneath_open(home_sessions_fd(home), name, O_RDONLY | O_DIRECTORY, 0);

	if (session < 0)
		return err_sys(err, "opening a session's folder");
	return aside_settle(session, err);
}

struct workspace *workspace_resume(struct home *home, const char *name, struct err *err)
{
	struct workspace *workspace;
	cleanup_fd int journal = -1;
	cleanup_fd int session = lasting_open(home, name, &journal);
	cleanup_fd int all = lasting_open_all(home);

	if (session < 0 || all < 0 || renameat(all, name, home_sessions_fd(home), name) < 0) {
		(void)err_set(err, ERR_NOT_FOUND, "the session's folder is not there any more");
		return NULL;
	}
	workspace = allocate(home, name);
	if (settle_aside(home, name, err) == 0 && open_tree(workspace, name, err) == 0) {
		(void)unlinkat(workspace->journal_fd, LASTING_SIZE, 0);
		(void)unlinkat(workspace->journal_fd, LASTING_RESCUED, 0);
		(void)unlinkat(workspace->journal_fd, KEEPLOG_DUE, 0);
		return workspace;
	}
	(void)renameat(home_sessions_fd(home), name, all, name);
	workspace_free(workspace);
	return NULL;
}

void workspace_free(struct workspace *workspace)
{
	if (workspace == NULL)
		return;
	fd_close(&workspace->data_fd);
	fd_close(&workspace->spool_fd);
	fd_close(&workspace->packages_fd);
	fd_close(&workspace->journal_fd);
	free(workspace->name);
	free(workspace->data_path);
	free(workspace->spool_path);
	free(workspace->packages_path);
	free(workspace->tmp_path);
	free(workspace->host_data_path);
	free(workspace->host_spool_path);
	free(workspace->host_packages_path);
	free(workspace);
}

/* Uses names only: the new workspace may have failed because no descriptor is left. */
void workspace_discard(struct workspace *workspace)
{
	static const char *const made[] = {
		"/data/.cache/tmp",
		"/data/.cache",
		"/data/input",
		"/data/output",
		"/data",
		"/spool",
		"/journal",
		"/packages/python",
		"/packages/javascript",
		"/packages/r",
		("/packages/" ASK_FOLDER),
		("/packages/" BELL_FOLDER),
		"/packages",
		"",
	};
	int home = home_fd(workspace->home);
	cleanup_free char *link = xasprintf("%s/node_modules", workspace->name);

	(void)unlinkat(home, link, 0);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		cleanup_free char *path = xasprintf("%s%s", workspace->name, made[i]);

		(void)unlinkat(home, path, AT_REMOVEDIR);
	}
	workspace_free(workspace);
}

/* ---- files that lie aside ---- */

static int open_top(const struct workspace *workspace, struct err *err)
{
	int top =
		beneath_open(home_fd(workspace->home), workspace->name, O_RDONLY | O_DIRECTORY, 0);

	return top < 0 ? err_sys(err, "opening a session's folder") : top;
}

/* Makes the descriptor of `data`, which other modules hold, refer to the folder of that name. */
static int reopen_data(struct workspace *workspace, int top, struct err *err)
{
	cleanup_fd int fd = beneath_open(top, ASIDE_DATA, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0 || dup3(fd, workspace->data_fd, O_CLOEXEC) < 0)
		return err_sys(err, "opening a session's folder");
	return 0;
}

/* Makes an empty folder `data` that belongs to the user who owns the session's files. */
static int make_data(int top, const struct stat *like, struct err *err)
{
	static const char *const inner[] = { "input", "output" };
	cleanup_fd int data = -1;

	if (make_folder(top, ASIDE_DATA, 0700, &data, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(inner); i++) {
		cleanup_fd int fd = -1;

		if (make_folder(data, inner[i], 0700, &fd, err) < 0 ||
		    (geteuid() == 0 && fchown(fd, like->st_uid, like->st_gid) < 0))
			return err_wrap(err, "the folder for cells that run again");
	}
	if (geteuid() == 0 && fchown(data, like->st_uid, like->st_gid) < 0)
		return err_sys(err, "making the folder for cells that run again");
	return 0;
}

int workspace_set_aside(struct workspace *workspace, struct err *err)
{
	cleanup_fd int top = open_top(workspace, err);
	struct stat st;
	struct err ignored;

	if (top < 0)
		return -1;
	if (fstat(workspace->data_fd, &st) < 0 || renameat(top, ASIDE_DATA, top, ASIDE_FOLDER) < 0)
		return err_sys(err, "laying the session's files aside");
	if (make_data(top, &st, err) == 0 && reopen_data(workspace, top, err) == 0)
		return 0;
	(void)!aside_settle(top, &ignored);
	return -1;
}

int workspace_take_back(struct workspace *workspace, struct err *err)
{
	cleanup_fd int top = open_top(workspace, err);

	if (top < 0 || aside_settle(top, err) < 0)
		return -1;
	return reopen_data(workspace, top, err);
}

/*
 * Opens or makes the folder `name`. A file that code of an earlier life left in its place gets
 * another name.
 */
static int enter(int dir_fd, const char *name, struct err *err)
{
	cleanup_free char *aside = random_name_new(TEMPORARY_PREFIX);
	int fd = beneath_enter(dir_fd, name, err);

	if (fd >= 0 || renameat(dir_fd, name, dir_fd, aside) < 0)
		return fd;
	return beneath_enter(dir_fd, name, err);
}

int workspace_make_tmp(struct workspace *workspace, struct err *err)
{
	/* Scans do not enter .cache. */
	cleanup_fd int cache = enter(workspace->data_fd, ".cache", err);
	cleanup_fd int tmp = cache < 0 ? -1 : enter(cache, "tmp", err);

	if (tmp < 0)
		return -1;
	free(workspace->tmp_path);
	workspace->tmp_path = xasprintf("%s/.cache/tmp", workspace->data_path);
	return 0;
}

const char *workspace_tmp_path(const struct workspace *workspace)
{
	return workspace->tmp_path;
}

void workspace_move_inside(struct workspace *workspace, const char *data_path,
			   const char *spool_path, const char *packages_path)
{
	free(workspace->data_path);
	free(workspace->spool_path);
	free(workspace->packages_path);
	workspace->data_path = xstrdup(data_path);
	workspace->spool_path = xstrdup(spool_path);
	workspace->packages_path = xstrdup(packages_path);
}

const char *workspace_host_data_path(const struct workspace *workspace)
{
	return workspace->host_data_path;
}

const char *workspace_host_spool_path(const struct workspace *workspace)
{
	return workspace->host_spool_path;
}

int workspace_data_fd(const struct workspace *workspace)
{
	return workspace->data_fd;
}

const char *workspace_data_path(const struct workspace *workspace)
{
	return workspace->data_path;
}

int workspace_spool_fd(const struct workspace *workspace)
{
	return workspace->spool_fd;
}

const char *workspace_spool_path(const struct workspace *workspace)
{
	return workspace->spool_path;
}

int workspace_packages_fd(const struct workspace *workspace)
{
	return workspace->packages_fd;
}

const char *workspace_packages_path(const struct workspace *workspace)
{
	return workspace->packages_path;
}

const char *workspace_host_packages_path(const struct workspace *workspace)
{
	return workspace->host_packages_path;
}

int workspace_journal_fd(const struct workspace *workspace)
{
	return workspace->journal_fd;
}

const char *workspace_name(const struct workspace *workspace)
{
	return workspace->name;
}

const struct home *workspace_home(const struct workspace *workspace)
{
	return workspace->home;
}

int workspace_open_read(const struct workspace *workspace, const char *path, off_t *ret_size,
			struct err *err)
{
	return beneath_open_regular(workspace->data_fd, path, ret_size, err);
}

static int write_temporary(int dir, const char *name, const void *data, size_t len, struct err *err)
{
	cleanup_fd int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "making a file");
	if (fd_write_all(fd, data, len, err) < 0 || beneath_inherit_owner(dir, fd, err) < 0) {
		(void)unlinkat(dir, name, 0);
		return -1;
	}
	return 0;
}

static int put_in_place(int dir, const char *from, const char *to, bool overwrite, struct err *err)
{
	int result = overwrite ? renameat(dir, from, dir, to) : beneath_rename_new(dir, from, to);

	if (result == 0)
		return 0;
	if (errno == EEXIST && !overwrite)
		(void)err_set(err, ERR_BUSY, "a file of that name exists");
	else if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST)
		(void)err_set(err, ERR_DENIED, "a folder of that name exists");
	else
		(void)err_sys(err, "naming the new file");
	(void)unlinkat(dir, from, 0);
	return -1;
}

int workspace_write(const struct workspace *workspace, const char *path, const void *data,
		    size_t len, bool overwrite, struct err *err)
{
	const char *name = NULL;
	cleanup_fd int dir = beneath_open_parent(workspace->data_fd, path, &name, err);
	cleanup_free char *temporary = NULL;

	if (dir < 0)
		return -1;
	temporary = random_name_new(TEMPORARY_PREFIX);
	if (write_temporary(dir, temporary, data, len, err) < 0)
		return -1;
	return put_in_place(dir, temporary, name, overwrite, err);
}
