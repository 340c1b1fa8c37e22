/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a temporary folder for one test, and small files in it.
 *
 * Header only. Everything aborts the test program on failure: a test's own footing must hold.
 */
#ifndef SUPPORT_SCRATCH_H
#define SUPPORT_SCRATCH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct scratch {
	char path[64];
	int fd;
};

static inline void scratch_check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

static inline void scratch_init(struct scratch *scratch)
{
	(void)snprintf(scratch->path, sizeof(scratch->path), "/tmp/ptycell-test-XXXXXX");
	scratch_check(mkdtemp(scratch->path) != NULL, "mkdtemp");
	scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scratch_check(scratch->fd >= 0, "open");
}

static inline void scratch_release(struct scratch *scratch)
{
	int status = -1;
	pid_t pid;

	(void)close(scratch->fd);
	scratch->fd = -1;
	/* rm goes deeper than the longest path. */
	pid = fork();
	if (pid == 0) {
		(void)execlp("rm", "rm", "-rf", scratch->path, (char *)NULL);
		_exit(127);
	}
	scratch_check(waitpid(pid, &status, 0) == pid && status == 0, "removing the folder");
}

/* (Over)writes the file with this text, in place. */
static inline void scratch_write(int dir_fd, const char *path, const char *text)
{
	int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	scratch_check(fd >= 0, path);
	scratch_check(write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	(void)close(fd);
}

enum { SCRATCH_READ_MAX = 64 << 10 };

/* The first bytes of a file, freed by the caller; NULL when it does not exist. */
static inline char *scratch_read(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	char *text = calloc(1, SCRATCH_READ_MAX + 1);
	ssize_t n = fd < 0 ? -1 : read(fd, text, SCRATCH_READ_MAX);

	if (fd >= 0)
		(void)close(fd);
	if (n >= 0)
		return text;
	free(text);
	return NULL;
}

static inline int scratch_exists(int dir_fd, const char *path)
{
	struct stat st;

	return fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

#endif
