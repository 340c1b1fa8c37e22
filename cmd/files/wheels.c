/* SPDX-License-Identifier: MIT */
/* wheels.c - copies each file under a hidden name, then renames it. */
#include "wheels.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "copy.h"
#include "tree.h"
#include "workspace/beneath.h"
#include "workspace/random_name.h"

enum { SHA256_LEN = 64 };

static void report_nothing(void)
{
}

bool wheels_has_name(const char *name)
{
	return strlen(name) == SHA256_LEN && strspn(name, "0123456789abcdef") == SHA256_LEN;
}

/* Returns true if `name` has the same bytes, and notes that it is used. */
static bool is_kept(int from, int to_fd, const char *name)
{
	cleanup_fd int kept = beneath_open(to_fd, name, O_RDONLY, 0);

	return kept >= 0 && copy_is_same(from, kept, report_nothing) && futimens(kept, NULL) == 0;
}

static void keep(int from, int to_fd, const char *name)
{
	cleanup_free char *hidden = random_name_new(".new-");
	cleanup_fd int to =
		openat(to_fd, hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	struct err err;

	if (to < 0)
		return;
	if (fstat(from, &st) < 0 || copy_bytes(from, to, st.st_size, &err) < 0 ||
	    fchmod(to, TREE_FILE_MODE) < 0 || renameat(to_fd, hidden, to_fd, name) < 0)
		(void)unlinkat(to_fd, hidden, 0);
}

void wheels_keep(int from_fd, int to_fd, const json_t *rows)
{
	size_t n;
	json_t *row;

	json_array_foreach (rows, n, row) {
		const char *file = json_string_value(json_object_get(row, "file"));
		const char *name = json_string_value(json_object_get(row, "sha256"));
		cleanup_free char *path = xasprintf("wheels/%s", file != NULL ? file : "");
		struct err err;
		off_t size;
		cleanup_fd int from = beneath_open_regular(from_fd, path, &size, &err);

		if (from >= 0 && name != NULL && wheels_has_name(name) &&
		    !is_kept(from, to_fd, name))
			keep(from, to_fd, name);
	}
}
