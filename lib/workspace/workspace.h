/* SPDX-License-Identifier: MIT */
/*
 * workspace.h - the folders of a server and of its sessions, by descriptor.
 *
 *   $PTYCELL_HOME/<server>/lock                  flock'ed while the server lives
 *   $PTYCELL_HOME/<server>/sessions/<random>/{data,spool,packages,journal}
 *   data holds input/ and output/ and is the session's working folder; the session reads spool
 *   and packages and never sees journal. packages holds a folder a language.
 *
 * The server never follows what a session planted: every access below `data` goes through
 * workspace_open_*(), which use openat2 with BENEATH, NO_SYMLINKS and NO_MAGICLINKS.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct home;
struct workspace;

enum { HOME_CLOSE_WAIT_MS = 1000 };

/*
 * Makes and locks this server's folder under `path`, and finds server folders of ours whose lock
 * is free. ERR_DENIED when `path` is a symlink, not ours, or open to others.
 */
struct home *home_open(const char *path, struct err *err) MUST_CHECK;
/*
 * Removes the (by then empty) server folder and unlocks. Waits up to HOME_CLOSE_WAIT_MS for
 * removals and copies still running, then lets them go on. Before loop_free. NULL is allowed.
 */
void home_close(struct home *home);
/*
 * Takes the name of one stale server folder out of the list, renamed so that no other server
 * takes it too: a string the caller frees, or NULL. It is removed with removal_start().
 */
char *home_take_stale(struct home *home);
int home_fd(const struct home *home);

/* A new folder with a random name. */
struct workspace *workspace_new(struct home *home, struct err *err) MUST_CHECK;
/* Forgets it; the folder stays for whoever removes it (removal_start). NULL is allowed. */
void workspace_free(struct workspace *workspace);
/* As workspace_free, and removes its folders, in which nothing was put yet. */
void workspace_discard(struct workspace *workspace);
/* From now on paths are told as a session sees them that has a root of its own. */
void workspace_move_inside(struct workspace *workspace, const char *data_path,
			   const char *spool_path, const char *packages_path);
/* Makes a folder below data for temporary files, where /tmp is not the session's own. */
int workspace_make_tmp(struct workspace *workspace, struct err *err) MUST_CHECK;
/* Its path; NULL: /tmp will do. */
const char *workspace_tmp_path(const struct workspace *workspace);
/* The data folder: descriptor and absolute path as the session sees it. */
int workspace_data_fd(const struct workspace *workspace);
const char *workspace_data_path(const struct workspace *workspace);
int workspace_spool_fd(const struct workspace *workspace);
const char *workspace_spool_path(const struct workspace *workspace);
int workspace_packages_fd(const struct workspace *workspace);
const char *workspace_packages_path(const struct workspace *workspace);
/* As the server sees them: only to say where a sandbox's folders come from. */
const char *workspace_host_data_path(const struct workspace *workspace);
const char *workspace_host_spool_path(const struct workspace *workspace);
const char *workspace_host_packages_path(const struct workspace *workspace);
int workspace_journal_fd(const struct workspace *workspace);
/* The folder that holds all of them, relative to home_fd(). */
const char *workspace_name(const struct workspace *workspace);

/*
 * Opens the regular file `path` (relative to data) for reading, never through a link. ERR_INVALID
 * for a path that is absolute or climbs, ERR_NOT_FOUND, ERR_DENIED for links and other kinds.
 */
int workspace_open_read(const struct workspace *workspace, const char *path, off_t *ret_size,
			struct err *err) MUST_CHECK;
/*
 * Writes a new file below data by a temporary name and rename; makes missing folders. With
 * `overwrite` false an existing name is ERR_BUSY. The session may race: nothing is followed.
 */
int workspace_write(const struct workspace *workspace, const char *path, const void *data,
		    size_t len, bool overwrite, struct err *err) MUST_CHECK;

#endif
