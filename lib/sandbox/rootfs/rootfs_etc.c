/* SPDX-License-Identifier: MIT */
/*
 * rootfs_etc.c - makes /etc: the files of hosttree_made, and the listed files of the host.
 *
 * Files that are made must come first: a host's file of the same name would be shown by a read-only
 * mount on it.
 */
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "sandbox/rootfs/hosttree.h"
#include "sandbox/rootfs/rootfs_internal.h"

static int write_made_file(const char *path, const char *text, struct err *err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "creating '%s'", path);
	return fd_write_all(fd, text, strlen(text), err);
}

static int show_etc_path(void *data, const char *path, struct err *err)
{
	(void)data;
	return rootfs_show(path, err);
}

int rootfs_make_etc(int etc, struct err *err)
{
	if (rootfs_make_folder("/etc", err) < 0)
		return -1;
	for (size_t i = 0; i < hosttree_made_count; i++)
		if (write_made_file(hosttree_made[i].path, hosttree_made[i].text, err) < 0)
			return -1;
	return hosttree_each_etc(etc, show_etc_path, NULL, err);
}
