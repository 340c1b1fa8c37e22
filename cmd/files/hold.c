/* SPDX-License-Identifier: MIT */
/*
 * hold.c - renames or removes what is held. Renaming keeps the user's data and hides it from git.
 * It never replaces a file: the new name must be free (RENAME_NOREPLACE). Where a folder's mode
 * forbids it, the mode is lifted first, since code may have set it.
 */
#include "hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "inspection.h"
#include "json/make.h"
#include "unlock.h"
#include "workspace/beneath.h"
#include "workspace/random_name.h"

enum { NAMES_MAX = 9 /* numbered names, before random ones */, TRIES_MAX = 20, ROWS_MAX = 20 };

bool hold_is_held(const char *name)
{
	return strstr(name, HOLD_MARK) != NULL;
}

static char *held_name(const char *name, unsigned int number)
{
	cleanup_free char *marked = xasprintf("%s%s", name, HOLD_MARK);
	cleanup_free char *prefix = xasprintf("%s-", marked);

	if (number == 1)
		return mem_steal(&marked);
	return number <= NAMES_MAX ? xasprintf("%s%u", prefix, number) : random_name_new(prefix);
}

/* Returns the new name, which the caller frees. Returns NULL and sets errno. */
static char *rename_held(int dir, const char *name)
{
	for (unsigned int i = 1; i <= TRIES_MAX; i++) {
		char *to = held_name(name, i);

		if (beneath_rename_new(dir, name, to) == 0)
			return to;
		free(to);
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

/*
 * Records a held entry. `to` is the new name, "" for a removed entry, or NULL when it could not be
 * held.
 */
static void note_held(struct inspection *inspection, const struct folder_at *folder,
		      const char *name, const char *to)
{
	cleanup_free char *path = xasprintf("%s/%s%s%s", inspection->share_path, folder->path,
					    folder->path[0] != '\0' ? "/" : "", name);
	json_t *row;

	if (inspection->held_count++ >= ROWS_MAX)
		return;
	row = json_object();
	json_put_path(row, "path", path);
	json_put_path(row, "name", to);
	json_append(inspection->held, row);
}

void hold_remove(struct inspection *inspection, const struct folder_at *folder, const char *name)
{
	int rc;

	if (inspection->learn)
		return;
	rc = unlinkat(folder->fd, name, 0);
	if (rc < 0 && errno == EACCES && unlock_open_folder(folder->fd) == 0)
		rc = unlinkat(folder->fd, name, 0);
	if (rc == 0 || errno != ENOENT)
		note_held(inspection, folder, name, rc == 0 ? "" : NULL);
}

void hold(struct inspection *inspection, const struct folder_at *folder, const char *name)
{
	cleanup_free char *to = NULL;

	if (inspection->learn)
		return;
	to = rename_held(folder->fd, name);
	if (to == NULL && errno == EACCES && unlock_open_folder(folder->fd) == 0)
		to = rename_held(folder->fd, name);
	if (to == NULL && errno == ENOENT)
		return; /* removed meanwhile */
	note_held(inspection, folder, name, to);
}
