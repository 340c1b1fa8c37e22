/* SPDX-License-Identifier: MIT */
/*
 * result_files.c - writes the files of a result. The CSV file is written under another name and
 * renamed at its end, so a file with the final name is always complete. Each file gets the owner of
 * its folder, in case the server runs as root.
 */
#include "result_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "sql/result_names.h"
#include "workspace/beneath.h"

void result_files_init(struct result_files *files, int dir_fd, const char *result)
{
	*files = (struct result_files){
		.dir_fd = dir_fd, .result = result, .part = result_part_name(result), .fd = -1
	};
}

static int make(const struct result_files *files, const char *path, struct err *err)
{
	const char *name;
	cleanup_fd int parent = beneath_open_parent(files->dir_fd, path, &name, err);
	cleanup_fd int fd = -1;
	int made;

	if (parent < 0)
		return err_wrap(err, "making '%s'", path);
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "making '%s'", path);
	if (beneath_inherit_owner(parent, fd, err) < 0)
		return -1;
	made = fd;
	fd = -1;
	return made;
}

int result_files_open(struct result_files *files, struct err *err)
{
	files->fd = make(files, files->part, err);
	return files->fd < 0 ? -1 : 0;
}

int result_files_write(struct result_files *files, const char *data, size_t len, struct err *err)
{
	if (fd_write_all(files->fd, data, len, err) < 0)
		return err_wrap(err, "writing '%s'", files->result);
	files->bytes += len;
	return 0;
}

int result_files_add_blob(struct result_files *files, const void *data, size_t len, char **ret_path,
			  struct err *err)
{
	cleanup_free char *path = result_blob_name(files->result, files->blobs + 1);
	cleanup_fd int fd = make(files, path, err);

	if (fd < 0)
		return -1;
	files->blobs++;
	if (fd_write_all(fd, data, len, err) < 0)
		return err_wrap(err, "writing '%s'", path);
	files->blob_bytes += len;
	*ret_path = mem_steal(&path);
	return 0;
}

int result_files_finish(struct result_files *files, struct err *err)
{
	const char *part;
	cleanup_fd int parent = -1;

	if (files->fd < 0)
		return 0;
	parent = beneath_open_parent(files->dir_fd, files->part, &part, err);
	if (parent < 0)
		return err_wrap(err, "naming '%s'", files->result);
	if (beneath_rename_new(parent, part, path_base(files->result)) < 0)
		return err_sys(err, "naming '%s'", files->result);
	return 0;
}

void result_files_release(struct result_files *files)
{
	fd_close(&files->fd);
	free(files->part);
}
