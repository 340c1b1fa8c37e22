/* SPDX-License-Identifier: MIT */
/*
 * spool.c - a file below the workspace's spool folder, written by one descriptor. The server alone
 * can write it; its mode lets a session that runs as a user of its own read it.
 */
#include "workspace/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"

struct spool {
	const struct workspace *workspace;
	uint64_t cell;
	const char *language;
	int dir_fd; /* borrowed from the workspace */
	int fd;     /* -1 before the first byte */
	bool made;
	char *path;       /* NULL before the first byte: most cells print nothing long */
	const char *name; /* within path */
	size_t max;
	size_t written;
	uint64_t dropped;
	bool failed;
	struct err err;
};

char *spool_name(uint64_t cell, const char *language)
{
	return xasprintf("cell-%" PRIu64 "-%s.txt", cell, language);
}

struct spool *spool_new(const struct workspace *workspace, uint64_t cell, const char *language,
			size_t max_bytes)
{
	struct spool *spool = xcalloc(1, sizeof(*spool));

	spool->workspace = workspace;
	spool->cell = cell;
	spool->language = language;
	spool->dir_fd = workspace_spool_fd(workspace);
	spool->fd = -1;
	spool->max = max_bytes;
	return spool;
}

void spool_free(struct spool *spool)
{
	if (spool == NULL)
		return;
	fd_close(&spool->fd);
	free(spool->path);
	free(spool);
}

static void fail(struct spool *spool)
{
	(void)err_sys(&spool->err, "the whole output could not be saved");
	spool->failed = true;
	fd_close(&spool->fd);
}

static void choose_path(struct spool *spool)
{
	const char *folder = workspace_spool_path(spool->workspace);
	cleanup_free char *name = spool_name(spool->cell, spool->language);

	spool->path = xasprintf("%s/%s", folder, name);
	spool->name = spool->path + strlen(folder) + 1;
}

/*
 * Makes the file, writable only by this descriptor and readable by a session that runs as a user of
 * its own.
 */
static void make_file(struct spool *spool)
{
	if (unlinkat(spool->dir_fd, spool->name, 0) < 0 && errno != ENOENT) {
		fail(spool);
		return;
	}
	spool->fd = openat(spool->dir_fd, spool->name,
			   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (spool->fd < 0 || fchmod(spool->fd, 0444) < 0)
		fail(spool);
	else
		spool->made = true;
}

static size_t write_some(struct spool *spool, const char *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(spool->fd, data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fail(spool);
			break;
		}
		done += (size_t)n;
	}
	return done;
}

void spool_write(struct spool *spool, const void *data, size_t len)
{
	size_t room = size_min(len, spool->max - spool->written);
	size_t done = 0;

	if (spool->path == NULL)
		choose_path(spool);
	if (room > 0 && !spool->made && !spool->failed)
		make_file(spool);
	if (!spool->failed)
		done = write_some(spool, data, room);
	spool->written += done;
	spool->dropped += len - done;
}

void spool_discard(struct spool *spool)
{
	if (spool->made)
		(void)unlinkat(spool->dir_fd, spool->name, 0);
	fd_close(&spool->fd);
	/* Further bytes are dropped: there is no file. */
	spool->max = spool->written;
}

/* Returns the number of the cell whose file it is, or 0. */
static uint64_t number_of(const char *name)
{
	uint64_t number = 0;

	return sscanf(name, "cell-%" SCNu64, &number) == 1 ? number : 0;
}

void spool_remove_unrecorded(int journal_fd, int spool_fd, uint64_t last)
{
	bool unrecorded =
		faccessat(journal_fd, "events", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
	DIR *folder = fd_list(spool_fd);
	const struct dirent *entry;

	while (folder != NULL && (entry = fd_next_entry(folder)) != NULL)
		if (entry->d_name[0] != '.' && (unrecorded || number_of(entry->d_name) > last) &&
		    unlinkat(spool_fd, entry->d_name, 0) < 0)
			log_warn("spool", "%s stays: %s", entry->d_name, strerrordesc_np(errno));
	if (folder != NULL)
		(void)closedir(folder);
}

const char *spool_path(const struct spool *spool)
{
	return spool->path;
}

size_t spool_size(const struct spool *spool)
{
	return spool->written;
}

uint64_t spool_dropped(const struct spool *spool)
{
	return spool->dropped;
}

const char *spool_error(const struct spool *spool)
{
	return spool->failed ? spool->err.msg : NULL;
}
