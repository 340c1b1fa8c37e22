/* SPDX-License-Identifier: MIT */
/* inspection.h - one inspection of shares: what is known, its limits, and what it held. */
#ifndef FILES_INSPECTION_H
#define FILES_INSPECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/map.h"

enum {
	INSPECT_FIRST_FD = 3 /* the first share; the others follow in order */,
	INSPECT_SHARES_MAX = 8
};

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
	bool unread;    /* a folder could not be read to its end */
	uint64_t entries_left;
	uint64_t until_ms;
	/* The limit that was met, "entries" or "time": entries are left. Else NULL. */
	const char *more;
	struct map *judged; /* folders that were judged (inspection_is_first) */
	/*
	 * The current repository was not one when the session began: everything in it counts as
	 * young.
	 */
	bool new_repository;
	bool begun; /* the current folder is no repository yet: something is missing */
	/* The current share. */
	int share;
	char *share_path;
	/*
	 * Paths, each ended by a NUL. `hooks` has folders that configs name, and `commands` words
	 * of commands, relative to where git is called. `workplaces` has for each share the folders
	 * in it that git may be called in. A .git file can lead to a config of another share, so
	 * what configs name is looked for in all shares.
	 */
	struct buf hooks;
	struct buf commands;
	struct buf worktrees; /* values of core.worktree in configs that were there before */
	struct buf workplaces[INSPECT_SHARES_MAX];
	/* For each share, the paths of repositories with a list of conflicts (indexfile.h). */
	struct buf conflicts[INSPECT_SHARES_MAX];
};

/*
 * A folder below the share. `path` is relative to the share, "" for itself. `fd` may be an O_PATH
 * one.
 */
struct folder_at {
	int fd;
	const char *path;
};

/* Returns the number of the current share. */
size_t inspection_share(const struct inspection *run);

/* Counts one more entry. Returns false and sets `more` when a limit is reached. */
bool inspection_count(struct inspection *run);
/* Checks only the time, for work that adds no entry. Returns false and sets `more` past the limit.
 */
bool inspection_goes_on(struct inspection *run);

/* Notes errno when it hides entries: that of a folder which could not be opened, or read. */
void inspection_note_unread(struct inspection *run);

/* Two reasons to judge a folder, and the second where only git's names count. */
enum judged_as { AS_REPOSITORY, AS_HOOKS, AS_HOOKS_AMONG_OTHERS };
/*
 * Returns true when this inspection has not judged the folder so. Any number of names may lead to
 * one folder; each entry in it is looked at, and counted, once.
 */
bool inspection_is_first(struct inspection *run, int dir, enum judged_as as);
/* Returns true when the entry changed, or became part of a repository, since the session began. */
bool inspection_is_young(const struct inspection *run, const struct stat *st);
/* Reads the state of an entry itself, not of what a link leads to. Returns false without one. */
bool inspection_stat(const struct folder_at *folder, const char *name, struct stat *ret_st);
/* Reads the state as inspection_stat does. Returns true when there is an entry and it is young. */
bool inspection_young_there(const struct inspection *run, const struct folder_at *folder,
			    const char *name, struct stat *ret_st);
/* Returns a regular file's text, or NULL when it cannot be read whole. The caller frees it. */
char *inspection_read(const struct folder_at *folder, const char *name, size_t max,
		      size_t *ret_len);
/*
 * Returns the path in a file such as commondir, or NULL if it cannot be read. As git does, removes
 * only line ends from the path's end. The caller frees it.
 */
char *inspection_read_pointer(const struct folder_at *folder, const char *name);

#endif
