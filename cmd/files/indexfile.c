/* SPDX-License-Identifier: MIT */
/*
 * indexfile.c - judges the index of a repository, and those that a split index may build on. The
 * length of hashes is a setting of the repository's config.
 */
#include "indexfile.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/gitindex.h"
#include "base/gitini.h"
#include "base/mem.h"
#include "base/util.h"
#include "hold.h"
#include "inspection.h"
#include "sandbox/rootfs/protect_config.h"

enum {
	FILE_MAX = 512 << 20,
	MORE = 1 << 20, /* git may replace it by a larger one meanwhile */
};

#define SHARED "sharedindex."

static void on_entry(void *data, const struct gitini_entry *entry)
{
	size_t *len = data;

	if (entry->odd == NULL && str_eq(entry->section, "extensions") &&
	    str_eq(entry->name, "objectformat"))
		*len = str_eq(entry->value, "sha256") ? GITINDEX_HASH_MAX : GITINDEX_HASH_SHORT;
}

/*
 * Returns the length of the repository's hashes. The config of a work tree's repository is that of
 * the common folder. One with another commondir is not git's: that is held (gitfolder.c).
 */
static size_t hash_length(const struct folder_at *folder)
{
	cleanup_free char *common = inspection_read_pointer(folder, "commondir");
	bool worktree = common != NULL && str_eq(common, "../..");
	size_t hash_len = GITINDEX_HASH_SHORT;
	size_t len = 0;
	cleanup_free char *text = inspection_read(folder, worktree ? "../../config" : "config",
						  PROTECT_CONFIG_MAX, &len);

	if (text != NULL)
		gitini_each(text, len, on_entry, &hash_len);
	return hash_len;
}

static bool is_sound(const struct folder_at *folder, const char *name, const struct stat *st)
{
	cleanup_free char *data = NULL;
	size_t len = 0;

	if (!S_ISREG(st->st_mode) || st->st_size > FILE_MAX)
		return false;
	data = inspection_read(folder, name, (size_t)st->st_size * 2 + MORE, &len);
	return data != NULL && gitindex_is_sound(data, len, hash_length(folder));
}

static void judge(struct inspection *run, const struct folder_at *folder, const char *name)
{
	struct stat st;

	if (inspection_young_there(run, folder, name, &st) && !is_sound(folder, name, &st))
		hold(run, folder, name);
}

/* Code can replace a shared index, and leave the user's own one, which builds on it, as it is. */
static void judge_shared(struct inspection *run, const struct folder_at *folder)
{
	DIR *entries = fd_list(folder->fd);
	const struct dirent *entry;

	if (entries == NULL) {
		inspection_note_unread(run);
		return;
	}
	while ((entry = fd_next_entry(entries)) != NULL && inspection_count(run))
		if (strncmp(entry->d_name, SHARED, strlen(SHARED)) == 0 &&
		    !hold_is_held(entry->d_name) && inspection_goes_on(run))
			judge(run, folder, entry->d_name);
	if (entry == NULL)
		inspection_note_unread(run);
	(void)closedir(entries);
}

void indexfile_judge(struct inspection *run, const struct folder_at *folder)
{
	if (run->learn)
		return;
	judge(run, folder, "index");
	judge_shared(run, folder);
}
