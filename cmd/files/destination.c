/* SPDX-License-Identifier: MIT */
/*
 * destination.c - makes and opens the folder for a session's exports. The root is opened by name:
 * only the user may have made it a link. From there on no link is followed.
 */
#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/beneath.h"

static bool give_to(int fd, const struct stat *owner)
{
	return fchown(fd, owner->st_uid, owner->st_gid) == 0;
}

/*
 * Creates a folder. One that root creates in a user's home (sudo) is given to that user, who could
 * not write to it otherwise. Returns 0, or errno.
 */
static int make_folder(const char *path)
{
	cleanup_free char *parent = xmemdup(path, (size_t)(strrchr(path, '/') - path));
	cleanup_fd int fd = -1;
	struct stat st;

	if (mkdir(path, 0700) < 0)
		return errno;
	if (geteuid() != 0 || stat(parent[0] != '\0' ? parent : "/", &st) < 0 || st.st_uid == 0)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		(void)give_to(fd, &st);
	return 0;
}

/* Names the setting if another folder is what helps. Returns -1. */
static int advise(struct err *err, int sys)
{
	cleanup_free char *what = xstrdup(err->msg);

	if (sys == EACCES || sys == EPERM || sys == EROFS || sys == ENOTDIR)
		(void)err_set(err, err->code, "%s; set PTYCELL_KEEP to a folder of yours", what);
	return -1;
}

static int refuse_root(int root_fd, const char *path, struct err *err)
{
	int sys = errno;
	struct stat st;

	(void)err_sys(err, "making a folder in '%s'", path);
	if (sys == EACCES && fstat(root_fd, &st) == 0 && st.st_uid != geteuid())
		(void)err_set(err, ERR_DENIED, "making a folder in '%s': it belongs to user %u",
			      path, st.st_uid);
	return advise(err, sys);
}

/* `made`: the error of making the folder or one above it; 0: none. */
static int refuse_open(const char *path, int made, struct err *err)
{
	int sys = errno == ENOENT && made != 0 ? made : errno;

	errno = sys;
	(void)err_sys(err, sys == made ? "making '%s'" : "opening '%s'", path);
	return advise(err, sys);
}

static int make_root(const char *path, struct err *err)
{
	cleanup_free char *copy = xstrdup(path);
	int made = 0;
	int fd;

	if (path[0] != '/')
		return err_set(err, ERR_INVALID, "the folder for results is not absolute");
	for (char *p = strchr(copy + 1, '/');; p = strchr(p + 1, '/')) {
		int sys;

		if (p != NULL)
			*p = '\0';
		sys = make_folder(copy);
		if (sys != 0 && sys != EEXIST && sys != ENOENT)
			made = sys;
		if (p == NULL)
			break;
		*p = '/';
	}
	/* The user may have made it a link to another disk. Only here a link is followed. */
	fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? refuse_open(path, made, err) : fd;
}

int destination_open(const char *root_path, const char *name, bool fresh, struct err *err)
{
	cleanup_fd int root = make_root(root_path, err);
	cleanup_fd int folder = -1;
	struct stat st;

	if (root < 0)
		return -1;
	if (strchr(name, '/') != NULL || !beneath_path_valid(name))
		return err_set(err, ERR_INVALID, "the folder's name is not a name");
	if (mkdirat(root, name, 0700) < 0) {
		if (errno != EEXIST)
			return refuse_root(root, root_path, err);
		if (fresh)
			return err_set(err, ERR_BUSY, "a folder of that name exists");
	}
	folder = beneath_open(root, name, O_RDONLY | O_DIRECTORY, 0);
	if (folder < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, ERR_DENIED, "the folder '%s' is a link or a file now", name);
	if (folder < 0 || fstat(folder, &st) < 0)
		return err_sys(err, "opening the folder '%s'", name);
	if (st.st_uid != geteuid())
		return err_set(err, ERR_DENIED, "the folder '%s' belongs to another user", name);
	return fd_steal(&folder);
}

bool destination_folds(const char *root_path, const char *name, int folder)
{
	cleanup_free char *path = xasprintf("%s/%s", root_path, name);
	struct stat by_name;
	struct stat st;
	bool any = false;

	for (char *c = path + strlen(root_path); *c != '\0'; c++) {
		any |= *c >= 'a' && *c <= 'z';
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	}
	return any && stat(path, &by_name) == 0 && fstat(folder, &st) == 0 &&
	       by_name.st_dev == st.st_dev && by_name.st_ino == st.st_ino;
}

int destination_remove(const char *root_path, const char *name, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", root_path, name);

	return rmdir(path) == 0 ? 0 : err_sys(err, "removing the folder '%s'", name);
}
