/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - copies of a session's results where the person finds them, and removal of trees.
 *
 * Both run in ptycell-files, one process a job: copies can be large and trees hostile.
 * Copies: regular files only, no links followed, temporary name then rename, mode 0600, only
 * files overwritten that this session put there, within a quota. No copy has a name of runnames.h.
 */
#ifndef WORKSPACE_KEEPER_H
#define WORKSPACE_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

struct keeper;

struct keep_result {
	size_t copied;
	size_t failed;
	const char *error;   /* the first trouble as a sentence, or NULL; this call only */
	const char *renamed; /* the first file saved under a name of runnames.h, once a keeper */
};

/* All is borrowed for the call of keeper_new but `loop` and `workspace`. */
struct keeper_spec {
	struct loop *loop;
	const struct workspace *workspace;
	const char *helper; /* ptycell-files' path */
	const char *root;   /* PTYCELL_KEEP resolved ("~/ptycell"), or NULL for off; the session's
			       folder DATE-ID-xxxx below it is made when the first file is kept */
	bool notebook;      /* should this server be killed, the next one keeps the notebook, too */
	const char *session_id;
	void *data;
};

struct keeper *keeper_new(const struct keeper_spec *spec);
void *keeper_data(const struct keeper *keeper);
/* For the copies to come; 0 at the start. */
void keeper_set_quota(struct keeper *keeper, uint64_t quota_bytes);
/*
 * A running copy goes on to its end, then what is owed is tried a last time; `done` is not called.
 * NULL is allowed.
 */
void keeper_free(struct keeper *keeper);
/*
 * Copies these paths, which are relative to data: results in output/ to where they lie in it,
 * others into a folder "files"; and what is owed: files whose copy failed for a reason that may
 * pass. Only troubles of `paths` are told. `done` runs from the loop. One at
 * a time.
 */
void keeper_copy(struct keeper *keeper, const char *const *paths, size_t count,
		 void (*done)(struct keeper *keeper, const struct keep_result *result));
/* A result that is owed without having been tried: path as above. */
void keeper_owe(struct keeper *keeper, const char *path);
/* Was it copied, or is to be? */
bool keeper_knows(const struct keeper *keeper, const char *path);
int keeper_data_fd(const struct keeper *keeper);
/* How many are owed, and when there is one the path of the first. */
size_t keeper_owed(const struct keeper *keeper, const char **ret_path);
/*
 * Copies the first `size` bytes of the journal's file, which never change, and then `suffix` into
 * the same folder. May run beside keeper_copy, `done` as there. While one runs, the newest
 * call's copy follows it and the one `done` is for both; keeper_free lets both come to their end.
 */
void keeper_copy_notebook(struct keeper *keeper, const char *file, uint64_t size,
			  const char *suffix,
			  void (*done)(struct keeper *keeper, const struct keep_result *result));
/* The folder, as the person would name it, once something was kept; else NULL. */
const char *keeper_folder(const struct keeper *keeper);

/*
 * Removes `name` below home in a helper process: constant memory, by descriptor, hostile modes and
 * depths included. `done` comes once, from the loop, also when no helper could start; NULL is
 * allowed.
 */
void removal_start(struct loop *loop, const struct home *home, const char *helper, const char *name,
		   void (*done)(void *data, bool ok), void *data);

#endif
