/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/root_internal.h"
#include "sandbox/usermap.h"

enum { PATH_ROOM = 300 };

/* What interpreters and their libraries read, on any distribution, and that tells nothing. */
static const char *const shown[] = {
	"/etc/ld.so.cache",
	"/etc/alternatives",
	"/etc/localtime",
	"/etc/timezone",
	"/etc/nsswitch.conf",
	"/etc/host.conf",
	"/etc/gai.conf",
	"/etc/protocols",
	"/etc/services",
	"/etc/os-release",
	"/etc/debian_version",
	"/etc/mime.types",
	"/etc/magic",
	"/etc/inputrc",
	"/etc/terminfo",
	"/etc/fonts",
	"/etc/matplotlibrc",
	"/etc/perl",
	"/etc/R",
	"/etc/ImageMagick-6",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/ca-certificates",
	"/etc/crypto-policies",
	"/etc/pki/tls/certs",
	"/etc/pki/tls/openssl.cnf",
	"/etc/pki/ca-trust/extracted",
};

static int write_text(const char *path, const char *text, struct err *err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "creating '%s'", path);
	return fd_write_all(fd, text, strlen(text), err);
}

static int write_users(struct err *err)
{
	char passwd[PATH_ROOM];
	char group[PATH_ROOM];

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

/* /etc/python3.11 and the like, whichever there are. */
static int show_pythons(struct err *err)
{
	DIR *folder = opendir(ROOT_OLD "/etc");
	struct dirent *entry;
	char path[PATH_ROOM];
	int rc = 0;

	if (folder == NULL)
		return err_sys(err, "reading the host's /etc");
	while (rc == 0 && (entry = readdir(folder)) != NULL) {
		if (strncmp(entry->d_name, "python3", strlen("python3")) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "/etc/%s", entry->d_name);
		rc = root_show(path, err);
	}
	(void)closedir(folder);
	return rc;
}

int root_make_etc(struct err *err)
{
	if (root_make_folder("/etc", err) < 0 || write_users(err) < 0 ||
	    write_text("/etc/hostname", "ptycell\n", err) < 0 ||
	    write_text("/etc/hosts", "127.0.0.1 localhost ptycell\n::1 localhost\n", err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		if (root_show(shown[i], err) < 0)
			return -1;
	return show_pythons(err);
}
