/* SPDX-License-Identifier: MIT */
#include "journal/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "json/write.h"

static int open_file(const char *path, struct err *err)
{
	cleanup_fd int fd = open(
		path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0)
		return err_sys(err, "opening '%s'", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, ERR_DENIED, "'%s' is not a regular file of this user", path);
	return fd_steal(&fd);
}

int audit_append(const char *path, const json_t *line, struct err *err)
{
	cleanup_fd int fd = open_file(path, err);
	cleanup_free char *text = NULL;
	size_t len;

	if (fd < 0)
		return -1;
	text = json_write_text(line);
	len = strlen(text);
	text[len] = '\n'; /* over the NUL: the length is known */
	return fd_write_all(fd, text, len + 1, err);
}
