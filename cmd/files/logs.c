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

enum { MAGIC_BYTES = 16, DUCKDB_MAGIC_AT = 8 };

static const char *const suffixes[] = { "-wal", "-journal", ".wal" };

static bool is_database(int fd)
{
	char start[MAGIC_BYTES];

	return pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	       (memcmp(start, "SQLite format 3", sizeof(start)) == 0 ||
		memcmp(start + DUCKDB_MAGIC_AT, "DUCK", 4) == 0);
}

static bool is_missing(int data_fd, const char *path)
{
	cleanup_fd int fd = beneath_open(data_fd, path, O_PATH | O_NOFOLLOW, 0);

	return fd < 0 && errno == ENOENT;
}

void logs_set_aside(int fd, int data_fd, const char *from, int dir_fd, const char *name)
{
	if (!is_database(fd))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		cleanup_free char *log = xasprintf("%s%s", from, suffixes[i]);
		cleanup_free char *copy = xasprintf("%s%s", name, suffixes[i]);
		cleanup_free char *old = xasprintf("%s.old", copy);
		cleanup_free char *moved = NULL;
		struct err ignored; /* no such copy */

		if (is_missing(data_fd, log))
			moved = copy_move(dir_fd, copy, old, NULL, &ignored);
	}
}

struct moved {
	struct list node;
	char *to;
	char *taken;
};

void logs_note(struct list *moved, const char *to, const char *taken)
{
	const char *name = path_base(to);
	struct moved *one;

	if (str_eq(name, taken))
		return;
	one = xcalloc(1, sizeof(*one));
	one->to = xstrdup(to);
	one->taken = xasprintf("%.*s%s", (int)(name - to), to, taken);
	list_init(&one->node);
	list_append(moved, &one->node);
}

char *logs_follow(const struct list *moved, const char *to)
{
	cleanup_free char *database = dblogs_database(to);

	list_for_each (const struct moved, one, moved, node)
		if (database != NULL && str_eq(one->to, database))
			return xasprintf("%s%s", one->taken, to + strlen(database));
	return NULL;
}

void logs_forget(struct list *moved)
{
	list_for_each (struct moved, one, moved, node) {
		free(one->to);
		free(one->taken);
		free(one);
	}
}
