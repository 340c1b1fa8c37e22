/* SPDX-License-Identifier: MIT */
/*
 * gitfolder.h - inspects a folder of a share as git would, and holds what session code must not
 * give to git.
 *
 * A folder with HEAD and one of objects, refs and commondir counts as a repository, under any name.
 * These of its entries are held, if they are young:
 *   - config, config.worktree: with an entry that workspace/gitconfig.h calls untrusted, that was
 *     not there before, or that leads the worktree out of the shares
 *   - hooks/NAME: executable and not a sample; also in a folder of core.hooksPath, and there only
 *     names of hooks when git may be called in it or above it
 *   - the target of a link there: as if it were there itself
 *   - a file that a config includes: as a config
 *   - a file in a command that git runs by itself
 *   - branches, remotes: any file, as it names a remote
 *   - commondir: unless it leads two folders up, as git's does
 *   - .git: a file or a link that leads out of the shares
 *   - any link into the sessions' folders, where code has all rights: removed
 *
 * In a repository that was not one when the session began, everything counts as young: session code
 * may have made its files earlier.
 *
 * All access is by descriptors of folders that were opened below the share without following links.
 */
#ifndef FILES_GITFOLDER_H
#define FILES_GITFOLDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/map.h"

enum { INSPECT_FIRST_FD = 3 /* the first share; the others follow in order */ };

struct inspection {
	const json_t *shares; /* paths */
	char *home;           /* the sessions' folder; may be NULL */
	char *home_real;      /* the same, with links resolved; may be NULL */
	int64_t since_ns;
	bool learn;
	struct map *known;
	json_t *held; /* the first of the held entries */
	size_t held_count;
	json_t *learned;
	size_t learned_bytes;
	bool unlearned; /* some entries did not fit into `learned` */
	uint64_t entries_left;
	uint64_t until_ms;
	bool more; /* entries are left that were not inspected */
	/*
	 * The current repository was not one when the session began: everything in it counts as
	 * young.
	 */
	bool new_repository;
	/* The current share. */
	int share;
	char *share_path;
	/*
	 * Paths in the current share, each ended by a NUL. `hooks` has folders that configs name,
	 * `commands` words of commands, relative to where git is called, and `workplaces` folders
	 * that git may be called in.
	 */
	struct buf hooks;
	struct buf commands;
	struct buf workplaces;
};

/*
 * A folder below the share. `path` is relative to the share, "" for itself. `fd` may be an O_PATH
 * one.
 */
struct folder_at {
	int fd;
	const char *path;
};

/* Counts one more entry. Returns false and sets `more` when the limit is reached. */
bool gitfolder_count(struct inspection *inspection);
/* Returns true when the entry changed, or became part of a repository, since the session began. */
bool gitfolder_is_young(const struct inspection *inspection, const struct stat *st);
/* Inspects those entries of the folder that git reads. */
void gitfolder_judge(struct inspection *inspection, const struct folder_at *folder);
/* Inspects what configs named. To be called after all folders of the share. */
void gitfolder_judge_named(struct inspection *inspection);
/* Inspects the link `name` in the folder. */
void gitfolder_judge_link(struct inspection *inspection, const struct folder_at *folder,
			  const char *name);

#endif
