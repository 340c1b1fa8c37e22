/* SPDX-License-Identifier: MIT */
/* logs.c - knows a database by its first bytes, and its logs by their names. */
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "copy.h"
#include "workspace/beneath.h"
#include "workspace/dblogs.h"

enum { MAGIC_BYTES = 16, DUCKDB_MAGIC_AT = 8, DUCKDB_MAGIC_BYTES = 4 };

bool logs_is_duckdb(int fd)
{
	char magic[DUCKDB_MAGIC_BYTES];

	return pread(fd, magic, sizeof(magic), DUCKDB_MAGIC_AT) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "DUCK", sizeof(magic)) == 0;
}

bool logs_is_database(int fd)
{
	char start[MAGIC_BYTES];

	return logs_is_duckdb(fd) ||
	       (pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
		memcmp(start, "SQLite format 3", sizeof(start)) == 0);
}

static bool is_missing(int data_fd, const char *path)
{
	cleanup_fd int fd = beneath_open(data_fd, path, O_PATH | O_NOFOLLOW, 0);

	return fd < 0 && errno == ENOENT;
}

void logs_set_aside(int fd, int data_fd, const char *from, int dir_fd, const char *name)
{
	if (!logs_is_database(fd))
		return;
	for (size_t i = 0; i < DBLOGS_COUNT; i++) {
		cleanup_free char *log = dblogs_name(from, i);
		cleanup_free char *copy = dblogs_name(name, i);
		cleanup_free char *old = xasprintf("%s.old", copy);
		cleanup_free char *moved = NULL;
		struct err ignored; /* no such copy */

		if (is_missing(data_fd, log))
			moved = copy_move(dir_fd, copy, old, NULL, &ignored);
	}
}

bool logs_is_log(const char *path)
{
	cleanup_free char *database = dblogs_database(path);

	return database != NULL;
}

/* A file that may be a database, and its copy. */
struct placed {
	struct list node;
	char *from;
	char *to; /* NULL if it was not copied */
};

static struct placed *find(const struct list *placed, const char *from)
{
	list_for_each (struct placed, one, placed, node)
		if (from != NULL && str_eq(one->from, from))
			return one;
	return NULL;
}

void logs_note(struct list *placed, const char *from, const char *to)
{
	struct placed *one = find(placed, from);

	if (one == NULL) {
		one = xcalloc(1, sizeof(*one));
		one->from = xstrdup(from);
		list_init(&one->node);
		list_append(placed, &one->node);
	}
	free(one->to);
	one->to = to == NULL ? NULL : xstrdup(to);
}

char *logs_follow(const struct list *placed, const char *from, const char *to)
{
	cleanup_free char *database = dblogs_database(from);
	const struct placed *one = find(placed, database);
	cleanup_free char *log = NULL;

	if (one == NULL || one->to == NULL)
		return NULL;
	log = xasprintf("%s%s", one->to, from + strlen(database));
	return str_eq(log, to) ? NULL : mem_steal(&log);
}

bool logs_has_place(const struct list *placed, const char *from)
{
	cleanup_free char *database = from == NULL ? NULL : dblogs_database(from);
	const struct placed *one = find(placed, database);

	return one != NULL && one->to != NULL;
}

bool logs_is_stranded(const struct list *placed, const char *from)
{
	cleanup_free char *database = dblogs_database(from);
	const struct placed *one = find(placed, database);

	return one != NULL && one->to == NULL;
}

void logs_forget(struct list *placed)
{
	list_for_each (struct placed, one, placed, node) {
		free(one->from);
		free(one->to);
		free(one);
	}
}
