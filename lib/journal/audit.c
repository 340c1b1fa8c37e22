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

static int open_file(const char *path, int create, struct err *err)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	cleanup_fd int fd = open(path, flags | create, 0600);
	struct stat st;

	if (fd < 0)
		return err_sys(err, "opening '%s'", path);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, ERR_DENIED, "'%s' is not a regular file of this user", path);
	return fd_steal(&fd);
}

/* Could a file be made beside the ones that are in its folder? */
static int check_folder(const char *path, struct err *err)
{
	cleanup_free char *folder = xstrdup(path);
	char *slash = strrchr(folder, '/');

	slash[slash == folder ? 1 : 0] = '\0';
	if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0)
		return err_sys(err, "making '%s'", path);
	return 0;
}

char *audit_refusal(const char *path)
{
	struct err err = { .code = ERR_NONE };
	cleanup_fd int fd = open_file(path, 0, &err);

	if (fd >= 0)
		return NULL;
	if (err.code == ERR_SYSTEM && err.sys == ENOENT && check_folder(path, &err) == 0)
		return NULL;
	return xasprintf(
		"What runs cannot be recorded in the file of PTYCELL_AUDIT, so nothing runs: "
		"%s. Correct the file and send it again, or correct PTYCELL_AUDIT and start ptycell "
		"again.",
		err.msg);
}

int audit_append(const char *path, const json_t *line, struct err *err)
{
	cleanup_fd int fd = open_file(path, O_CREAT, err);
	cleanup_free char *text = NULL;
	size_t len;

	if (fd < 0)
		return -1;
	text = json_write_text(line);
	len = strlen(text);
	text[len] = '\n'; /* over the NUL: the length is known */
	return fd_write_all(fd, text, len + 1, err);
}
