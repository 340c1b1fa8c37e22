/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/hosttree.h"
#include "sandbox/root_internal.h"
#include "sandbox/usermap.h"

enum { TEXT_MAX = 300 };

static int write_text(const char *path, const char *text, struct err *err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "creating '%s'", path);
	return fd_write_all(fd, text, strlen(text), err);
}

static int write_users(struct err *err)
{
	char passwd[TEXT_MAX];
	char group[TEXT_MAX];

	(void)snprintf(passwd, sizeof(passwd),
		       "root:x:0:0:root:/:/usr/sbin/nologin\n"
		       "user:x:%d:%d:user:" POLICY_DATA ":/bin/bash\n"
		       "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
		       USERMAP_INSIDE, USERMAP_INSIDE);
	(void)snprintf(group, sizeof(group), "root:x:0:\nuser:x:%d:\nnogroup:x:65534:\n",
		       USERMAP_INSIDE);
	if (write_text("/etc/passwd", passwd, err) < 0)
		return -1;
	return write_text("/etc/group", group, err);
}

static int show(void *data, const char *path, struct err *err)
{
	(void)data;
	return root_show(path, err);
}

int root_make_etc(struct err *err)
{
	if (root_make_folder("/etc", err) < 0 || write_users(err) < 0 ||
	    write_text("/etc/hostname", "ptycell\n", err) < 0 ||
	    write_text("/etc/hosts", "127.0.0.1 localhost ptycell\n::1 localhost\n", err) < 0)
		return -1;
	return hosttree_each_etc(ROOT_OLD, show, NULL, err);
}
