/* SPDX-License-Identifier: MIT */
/*
 * aside.h - the files of a session while its cells run again.
 *
 *   <session>/data             the folder in which the cells run
 *   <session>/aside            meanwhile: the session's files
 *   <session>/spent-<random>   an earlier `data` or `aside`, to be removed
 *
 * While `aside` exists, it holds the session's files, and the content of `data` may be discarded.
 * One rename makes `aside`, and one rename ends it. No file is lost if the server is killed
 * meanwhile: aside_settle() renames `aside` to `data` before a server uses the session's folder.
 */
#ifndef WORKSPACE_ASIDE_H
#define WORKSPACE_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

#define ASIDE_DATA "data"
#define ASIDE_FOLDER "aside"
#define ASIDE_SPENT_PREFIX "spent-"

/*
 * Renames `aside` to `data`, if it exists. No process of the session may run. Returns -1 and sets
 * *err if a rename fails; then `aside` still exists.
 */
int aside_settle(int session_fd, struct err *err) MUST_CHECK;
/*
 * Removes spent folders in the background. `helper` is the path of ptycell-files. Returns NULL if
 * there are none; else the removal of the last one, as removal_start. Until it is over, files that
 * were put back may have a second name, which counts as a change when it goes.
 */
struct removal *aside_remove_spent(struct loop *loop, const struct workspace *workspace,
				   const char *helper, void (*done)(void *data, bool ok),
				   void *data);

/* A file that the cells had before they ran. */
struct aside_file {
	const char *path;
	int64_t size;       /* -1: any */
	const char *sha256; /* or NULL */
};

/* The lists of files that jobs report. Only files that are put back are in others than the first.
 */
enum aside_list {
	ASIDE_CHANGED,
	ASIDE_OPEN,    /* processes have it open, and do not reach what has its name now */
	ASIDE_UNKNOWN, /* the same holds, if processes have it open: that is not known */
	ASIDE_STAYS,   /* is new and open for writing, so it stays */
	ASIDE_LISTS,
};

/* A file that a job reports. */
struct aside_found {
	char *path; /* untrusted, not cleaned */
	char *how;  /* as in cmd/files/bring.h, or cmd/files/putback.h */
	enum aside_list list;
};

/* Borrowed for the call of `done`. */
struct aside_result {
	const struct aside_found *found; /* sorted by path */
	size_t found_count;
	size_t totals[ASIDE_LISTS]; /* of all such files: not every one is in `found` */
	const char *problem;        /* why not all was done, or NULL */
};

struct aside_spec {
	struct loop *loop;
	const struct workspace *workspace;
	const char *helper; /* path of ptycell-files */
	const char *kept;   /* the folder of exported results, or NULL */
	void (*done)(void *data, const struct aside_result *result); /* once, from the loop */
	void *data;
};

struct aside_job;

/* Copies files to `data`. Returns a job that lives until `done` or aside_stop. */
struct aside_job *aside_bring(const struct aside_spec *spec, const struct aside_file *files,
			      size_t count);
/*
 * Makes `data` like `aside` and removes `aside`. Running interpreters keep the files that they have
 * open. After a problem `aside` still exists.
 */
struct aside_job *aside_put_back(const struct aside_spec *spec);
/* Ends the job without `done`. May be NULL. */
void aside_stop(struct aside_job *job);

#endif
