/* SPDX-License-Identifier: MIT */
/*
 * mark.c - recognises repositories, virtual environments and caches by a marker entry, because
 * their folders can have any name.
 */
#include "workspace/mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/util.h"
#include "workspace/beneath.h"

/* Entries that mark a folder without results. */
static const struct {
	const char *entry;
	const char *why;
} marks[] = {
	{ ".git", "in a repository" },
	{ ".hg", "in a repository" },
	{ ".svn", "in a repository" },
	{ "objects", "in a repository" }, /* beside HEAD: a bare repository */
	{ "pyvenv.cfg", "in a virtual environment" },
	{ "conda-meta", "in a virtual environment" },
	{ "CACHEDIR.TAG", "in a cache" },
};

static bool is_in(int fd, const char *entry)
{
	struct stat st;

	return fstatat(fd, entry, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *mark_of(int data_fd, const char *folder)
{
	cleanup_fd int fd = folder[0] == '\0'
				    ? fcntl(data_fd, F_DUPFD_CLOEXEC, 0)
				    : beneath_open(data_fd, folder, O_PATH | O_DIRECTORY, 0);

	for (size_t i = 0; fd >= 0 && i < ARRAY_SIZE(marks); i++)
		if (is_in(fd, marks[i].entry) &&
		    (!str_eq(marks[i].entry, "objects") || is_in(fd, "HEAD")))
			return marks[i].why;
	return NULL;
}
