/* SPDX-License-Identifier: MIT */
/*
 * staged_file.c - a file in the session's folder, outside of data, until it is placed by one
 * rename. Session code may make a file with its name meanwhile, so without `overwrite` the rename
 * itself refuses an existing name.
 */
#include "workspace/staged_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/beneath.h"
#include "workspace/home.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

#define PART_PREFIX "part-"

struct staged_file {
	int data_fd; /* the session's folder */
	int top_fd;  /* the folder above, where the file is stored */
	int fd;
	char *name; /* NULL after it was placed */
};

static int make_file(struct staged_file *part, struct err *err)
{
	part->fd = openat(part->top_fd, part->name,
			  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (part->fd < 0) {
		mem_cleanup(&part->name);
		return err_sys(err, "making a file");
	}
	return 0;
}

static int open_top(struct staged_file *part, const struct workspace *workspace, struct err *err)
{
	part->data_fd = fd_dup(workspace_data_fd(workspace), err);
	if (part->data_fd < 0)
		return -1;
	part->top_fd = beneath_open(home_fd(workspace_home(workspace)), workspace_name(workspace),
				    O_RDONLY | O_DIRECTORY, 0);
	return part->top_fd < 0 ? err_sys(err, "opening a session's folder") : 0;
}

struct staged_file *staged_file_new(const struct workspace *workspace, struct err *err)
{
	struct staged_file *part = xcalloc(1, sizeof(*part));

	part->data_fd = -1;
	part->top_fd = -1;
	part->fd = -1;
	part->name = random_name_new(PART_PREFIX);
	if (open_top(part, workspace, err) < 0 || make_file(part, err) < 0) {
		staged_file_free(part);
		return NULL;
	}
	return part;
}

void staged_file_free(struct staged_file *part)
{
	if (part == NULL)
		return;
	if (part->name != NULL && part->top_fd >= 0)
		(void)unlinkat(part->top_fd, part->name, 0);
	fd_close(&part->fd);
	fd_close(&part->top_fd);
	fd_close(&part->data_fd);
	free(part->name);
	free(part);
}

int staged_file_fd(const struct staged_file *part)
{
	return part->fd;
}

static int name_taken(struct err *err)
{
	return err_set(err, ERR_BUSY, "a file of that name exists");
}

static int folder_in_the_way(struct err *err)
{
	return err_set(err, ERR_DENIED, "a folder of that name exists");
}

int staged_file_check(const struct staged_file *part, const char *path, bool overwrite,
		      struct err *err)
{
	const char *name = NULL;
	cleanup_fd int dir = beneath_open_parent(part->data_fd, path, &name, err);
	struct stat st;

	if (dir < 0)
		return -1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return folder_in_the_way(err);
	return overwrite ? 0 : name_taken(err);
}

static int move(const struct staged_file *part, int dir, const char *name, bool overwrite)
{
	if (overwrite)
		return renameat(part->top_fd, part->name, dir, name);
	return beneath_move_new(part->top_fd, part->name, dir, name);
}

int staged_file_place(struct staged_file *part, const char *path, bool overwrite, struct err *err)
{
	const char *name = NULL;
	cleanup_fd int dir = beneath_open_parent(part->data_fd, path, &name, err);

	if (dir < 0 || beneath_inherit_owner(dir, part->fd, err) < 0)
		return -1;
	if (move(part, dir, name, overwrite) == 0) {
		mem_cleanup(&part->name);
		return 0;
	}
	if (errno == EEXIST && !overwrite)
		return staged_file_check(part, path, overwrite, err) < 0 ? -1 : name_taken(err);
	if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST)
		return folder_in_the_way(err);
	return err_sys(err, "naming the new file");
}
