/* SPDX-License-Identifier: MIT */
/*
 * gitfolder.h - judges a folder of a share as git does, and holds what code may not give to it.
 *
 * A folder with HEAD and one of objects, refs and commondir is taken for a repository, whatever it
 * is called. Held are of what is young:
 *   config, config.worktree  with an entry that workspace/gitconfig.h calls foreign, that was not
 *                            there before, or that leads the worktree out of the shares
 *   hooks/NAME               that can run and is no sample; so in a folder of core.hooksPath, where
 *                            in one that git may be called in, or above it, only names of hooks are
 *   what a link there names  as what is there itself
 *   what a config includes   as a config
 *   what a config runs       a file that a command names which git runs by itself
 *   branches, remotes        any file, as it names a remote
 *   commondir                that does not lead two folders up, as git's does
 *   .git                     a file or a link that leads out of the shares
 *   any link                 into the folders of sessions, where code has all rights: removed
 *
 * In a repository that was none when the session began all is young: code may have made its files
 * in an earlier one.
 *
 * All goes by descriptors of folders that were opened below the share without following links.
 */
#ifndef FILES_GITFOLDER_H
#define FILES_GITFOLDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/map.h"

enum { LOOK_FIRST_FD = 3 /* of the shares, in their order */ };

struct look {
	const json_t *shares; /* their paths */
	char *home;           /* of the sessions' folders; or NULL */
	char *home_real;      /* through no link; or NULL */
	int64_t since_ns;
	bool learn;
	struct map *known;
	json_t *held; /* the first of them */
	size_t held_count;
	json_t *learned;
	size_t learned_bytes;
	bool unlearned; /* there was no room for all of them */
	uint64_t entries_left;
	uint64_t until_ms;
	bool more; /* entries were left */
	/* The repository at hand was none at the session's start: all in it is code's, however old.
	 */
	bool strange;
	/* The share at hand. */
	int share;
	char *share_path;
	/* In it, paths with a NUL behind each: folders of hooks that configs name, and words of
	 * commands, relative to where git is called, and folders that it may be called in. */
	struct buf hooks;
	struct buf commands;
	struct buf workplaces;
};

/* A folder below the share: `path` relative to it, "" for the share; `fd` may be an O_PATH one. */
struct folder_at {
	int fd;
	const char *path;
};

/* An entry more is looked at. False, and `more`, when it may not be. */
bool gitfolder_count(struct look *look);
/* What changed since the session began, or became part of a repository. */
bool gitfolder_is_young(const struct look *look, const struct stat *st);
/* Looks at what git reads of the folder's own entries. */
void gitfolder_judge(struct look *look, const struct folder_at *folder);
/* When all folders of the share have been. */
void gitfolder_judge_named(struct look *look);
/* `name` in it is a link. */
void gitfolder_judge_link(struct look *look, const struct folder_at *folder, const char *name);

#endif
