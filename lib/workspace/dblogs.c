/* SPDX-License-Identifier: MIT */
/* dblogs.c - knows each log by the suffix that its name adds to that of the database. */
#include "workspace/dblogs.h"

#include <string.h>

#include "base/mem.h"
#include "base/util.h"

static const char *const suffixes[DBLOGS_COUNT] = { "-wal", "-journal", ".wal", "-shm" };

char *dblogs_database(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < DBLOGS_COUNT; i++) {
		size_t end = strlen(suffixes[i]);

		if (len > end && str_eq(path + len - end, suffixes[i]))
			return xmemdup(path, len - end);
	}
	return NULL;
}

char *dblogs_name(const char *database, size_t index)
{
	return xasprintf("%s%s", database, suffixes[index]);
}
