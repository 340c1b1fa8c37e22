/* SPDX-License-Identifier: MIT */
/*
 * indexfile.c - judges the index of a repository, and the shared indexes on which a split index may
 * build. The length of hashes is a setting of the repository's config. Lists of conflicts are
 * judged here, too. git follows links on the paths of such a list, but not on the paths of an
 * index.
 */
#include "indexfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gitindex.h"
#include "base/gitini.h"
#include "base/mem.h"
#include "base/util.h"
#include "hold.h"
#include "inspection.h"
#include "sandbox/rootfs/protect_config.h"
#include "workspace/beneath.h"

#define CONFLICTS "MERGE_RR"

enum {
	FILE_MAX = 128 << 20,
	CONFLICTS_MAX = 1 << 20,
	MORE = 1 << 20, /* git may replace an index by a larger one before it is read */
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
 * Returns the length of the repository's hashes. The folder of a worktree has no config of its own:
 * its commondir leads to that of the repository. gitfolder.c holds any other commondir, as git does
 * not write it.
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

/*
 * Judges the shared indexes. Session code can replace one and leave the user's index, which builds
 * on it, as it is.
 */
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

/* ---- conflicts ---- */

/*
 * Judges the list of conflicts. If it is sound, notes the repository for indexfile_judge_links().
 */
static void judge_conflicts(struct inspection *run, const struct folder_at *folder)
{
	struct buf *noted = &run->conflicts[inspection_share(run)];
	cleanup_free char *text = NULL;
	struct stat st;
	size_t len = 0;

	if (run->learn || !inspection_stat(folder, CONFLICTS, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size == 0)
		return;
	text = inspection_read(folder, CONFLICTS, CONFLICTS_MAX, &len);
	if (text == NULL || !gitindex_are_conflicts_sound(text, len))
		hold(run, folder, CONFLICTS);
	else if (noted->len + strlen(folder->path) < noted->max)
		buf_put(noted, folder->path, strlen(folder->path) + 1);
	else
		run->more = "entries";
}

static int open_folder(int share, const char *path)
{
	return path[0] == '\0' ? openat(share, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)
			       : beneath_open(share, path, O_PATH | O_DIRECTORY, 0);
}

/* Returns whether the path, or a folder on it, is a link. */
static bool is_link(int worktree, const char *path)
{
	cleanup_free char *part = xstrdup(path);
	char *slash = part;
	struct stat st;

	while (slash != NULL) {
		slash = strchr(slash, '/');
		if (slash != NULL)
			*slash = '\0';
		if (fstatat(worktree, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return false;
		if (S_ISLNK(st.st_mode))
			return true;
		if (slash != NULL)
			*slash++ = '/';
	}
	return false;
}

static bool has_link(struct inspection *run, int worktree, const char *text, size_t len)
{
	for (size_t at = 0; at < len && inspection_goes_on(run); at += strlen(text + at) + 1) {
		const char *path = strchr(text + at, '\t');

		if (path != NULL && is_link(worktree, path + 1))
			return true;
	}
	return false;
}

/* Returns whether a path leads through a link in any work tree of any share. */
static bool leads_through_link(struct inspection *run, const char *text, size_t len)
{
	for (size_t i = 0; i < json_array_size(run->shares); i++) {
		const struct buf *worktrees = &run->workplaces[i];

		for (size_t at = 0; at < worktrees->len; at += strlen(worktrees->data + at) + 1) {
			cleanup_fd int fd =
				open_folder(INSPECT_FIRST_FD + (int)i, worktrees->data + at);

			if (fd >= 0 && has_link(run, fd, text, len))
				return true;
		}
	}
	return false;
}

void indexfile_judge_links(struct inspection *run)
{
	const struct buf *noted = &run->conflicts[inspection_share(run)];

	for (size_t at = 0; at < noted->len; at += strlen(noted->data + at) + 1) {
		cleanup_fd int fd = open_folder(run->share, noted->data + at);
		struct folder_at folder = { .fd = fd, .path = noted->data + at };
		size_t len = 0;
		cleanup_free char *text =
			fd < 0 ? NULL : inspection_read(&folder, CONFLICTS, CONFLICTS_MAX, &len);

		if (text != NULL && leads_through_link(run, text, len))
			hold(run, &folder, CONFLICTS);
	}
}

/* ---- the index ---- */

static void judge_index(struct inspection *run, const struct folder_at *folder)
{
	if (run->learn)
		return;
	judge(run, folder, "index");
	judge_shared(run, folder);
}

void indexfile_judge(struct inspection *run, const struct folder_at *folder)
{
	judge_index(run, folder);
	judge_conflicts(run, folder);
}
