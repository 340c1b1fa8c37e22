/* SPDX-License-Identifier: MIT */
/*
 * workspace.h - the folders of a server and of its sessions, by descriptor.
 *
 *   $PTYCELL_HOME/<server>/lock                  flock'ed while the server lives
 *   $PTYCELL_HOME/<server>/sessions/<random>/{data,spool,packages,journal}
 *   $PTYCELL_HOME/resume/<random>/...            of ended sessions (lasting.h)
 *
 * While cells run again, a session's folder also has `aside` (aside.h).
 *
 * `data` holds input/ and output/ and is the session's working folder. The session can read `spool`
 * and `packages` and never sees `journal`, which also has the imports as they came (original.h).
 * `packages` holds one folder per language, ASK_FOLDER with the programs by which code asks for
 * packages, and BELL_FOLDER with the pipe that they write to (session/asking.h).
 *
 * The server never follows a link that session code made: every access below `data` goes through
 * workspace_open_*(), which use openat2 with BENEATH, NO_SYMLINKS and NO_MAGICLINKS.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct home;
struct workspace;

/* In `packages`. */
#define ASK_FOLDER "ask"
#define BELL_FOLDER "bell"

/* Makes a new folder with a random name. Returns NULL and sets *err. */
struct workspace *workspace_new(struct home *home, struct err *err) MUST_CHECK;
/*
 * Takes over the folder `name` of an ended session (lasting.h) by one rename. Returns NULL and sets
 * *err: ERR_NOT_FOUND if another server was faster, ERR_DENIED if it is not what a server made.
 */
struct workspace *workspace_resume(struct home *home, const char *name, struct err *err) MUST_CHECK;
/* Returns the workspace's home, for jobs that outlive their workspace. */
const struct home *workspace_home(const struct workspace *workspace);
/* Frees `workspace`, which may be NULL. The caller must remove its folder with removal_start(). */
void workspace_free(struct workspace *workspace);
/* Frees `workspace` and removes its folders, which must still be unused. */
void workspace_discard(struct workspace *workspace);
/*
 * Lays the session's files aside (aside.h) and gives it an empty folder, with the same descriptor.
 * No process of the session may run. Returns -1 and sets *err; then nothing has changed.
 */
int workspace_set_aside(struct workspace *workspace, struct err *err) MUST_CHECK;
/*
 * Puts the files that lie aside in the place of the folder, if there are any. No process of the
 * session may run on: it would keep the other folder. Returns -1 and sets *err.
 */
int workspace_take_back(struct workspace *workspace, struct err *err) MUST_CHECK;
/* Sets the paths that a session with a root of its own sees. They are returned from now on. */
void workspace_move_inside(struct workspace *workspace, const char *data_path,
			   const char *spool_path, const char *packages_path);
/*
 * Makes a folder for temporary files below data, for sessions without a /tmp of their own. Returns
 * -1 and sets *err.
 */
int workspace_make_tmp(struct workspace *workspace, struct err *err) MUST_CHECK;
/* Returns the path of that folder, or NULL if the session uses /tmp. */
const char *workspace_tmp_path(const struct workspace *workspace);
/* Return the data folder: its descriptor, and its absolute path as the session sees it. */
int workspace_data_fd(const struct workspace *workspace);
const char *workspace_data_path(const struct workspace *workspace);
int workspace_spool_fd(const struct workspace *workspace);
const char *workspace_spool_path(const struct workspace *workspace);
int workspace_packages_fd(const struct workspace *workspace);
const char *workspace_packages_path(const struct workspace *workspace);
/* Return the paths as the server sees them, only to name the sources of a sandbox's folders. */
const char *workspace_host_data_path(const struct workspace *workspace);
const char *workspace_host_spool_path(const struct workspace *workspace);
const char *workspace_host_packages_path(const struct workspace *workspace);
int workspace_journal_fd(const struct workspace *workspace);
/* Returns the name of the folder that holds all of them, relative to home_fd(). Borrowed. */
const char *workspace_name(const struct workspace *workspace);

/*
 * Opens the regular file `path` (relative to data) for reading, never through a link. Returns -1
 * and sets *err: ERR_INVALID for an absolute path or one with "..", ERR_NOT_FOUND, ERR_DENIED for
 * links and other kinds.
 */
int workspace_open_read(const struct workspace *workspace, const char *path, off_t *ret_size,
			struct err *err) MUST_CHECK;
/*
 * Writes a new file below data by a temporary name and a rename, and makes missing folders. Returns
 * -1 and sets *err: ERR_BUSY if the name exists and `overwrite` is false. Session code may race
 * with it: no link is followed.
 */
int workspace_write(const struct workspace *workspace, const char *path, const void *data,
		    size_t len, bool overwrite, struct err *err) MUST_CHECK;

#endif
