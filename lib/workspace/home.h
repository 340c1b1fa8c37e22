/* SPDX-License-Identifier: MIT */
/* home.h - the folder of a server, with the sessions in it. workspace.h shows what lies where. */
#ifndef WORKSPACE_HOME_H
#define WORKSPACE_HOME_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"

struct home;

enum { HOME_CLOSE_WAIT_MS = 1000 };

/* The name of a server's folder begins with this. */
#define HOME_SERVER_PREFIX "server-"
/* The folder of the sessions, within a server's folder. */
#define HOME_SESSIONS "sessions"
/*
 * The name of a folder that is being removed begins with this. It is hidden, and locked (flock on
 * the folder) by its remover.
 */
#define HOME_REMOVE_PREFIX ".remove-"
/* The same of a folder whose content session code chose: no record in it is trusted. */
#define HOME_SPENT_PREFIX ".spent-"

/*
 * A helper process that outlives its owner: a removal, or an export whose exporter was freed. The
 * job removes itself from the home's list when it ends. home_close() detaches the jobs that still
 * run.
 */
struct home_job {
	struct list node;
	void (*leave)(struct home_job *job, int wait_ms); /* frees the job; the helper continues */
};

/*
 * Makes and locks this server's folder under `path`, and finds our server folders whose lock is
 * free. Returns NULL and sets *err: ERR_INVALID if `path` is not absolute, ERR_DENIED if it is a
 * symbolic link, not ours, or open to others.
 */
struct home *home_open(const char *path, struct err *err) MUST_CHECK;
/* Shows other servers that this one ends as soon as its client's calls are answered. */
void home_show_leaving(const struct home *home, bool leaving);
/* Returns whether the server of that folder shows that it ends. */
bool home_is_leaving(int home_fd, const char *server);
/*
 * Removes the server folder, which must be empty by then, and unlocks it. Waits up to
 * HOME_CLOSE_WAIT_MS for running removals and exports, then detaches them. Must be called before
 * loop_free. `home` may be NULL.
 */
void home_close(struct home *home);
/*
 * Returns the name of one stale server folder, or NULL; the caller frees it. The folder is renamed
 * and not returned again. The caller must remove it with removal_start(), whose lock keeps other
 * servers from taking it. Sessions with a record are moved out of it before, because their server
 * meant them to last (lasting.h). A folder stays if those sessions cannot be read.
 */
char *home_take_stale(struct home *home);
/* Returns whether this is the name of a folder that is being removed. */
bool home_is_removed(const char *name);
/* Looks again for server folders, as home_open() did. */
void home_look_again(struct home *home);
int home_fd(const struct home *home);

/* Adds a job to the list of those that home_close detaches. */
void home_add_job(const struct home *home, struct home_job *job);
/* Returns the list of this server's inspectors (inspector.c). */
struct list *home_inspectors(const struct home *home);
/*
 * Opens the folder of a home, and makes it. Returns -1 and sets *err as home_open does; the path
 * has no slash at its end.
 */
int home_open_root(const char *path, struct err *err) MUST_CHECK;
/*
 * Opens an entry of a home, and gives its owner the rights that are missing: a remover or maker may
 * have been interrupted, and in tier landlock code of a session can change modes. Returns -1 and
 * sets errno.
 */
int home_open_entry(int dir, const char *name, int flags) MUST_CHECK;
/* Returns the mode of the folders above a session's own folder. */
mode_t home_folder_mode(void);
/*
 * Calls `fn` for each folder of a server in the home `fd`, with a descriptor of the home. Returns
 * false if `fn` did, or if the home could not be read to its end.
 */
typedef bool home_server_fn(void *data, int home_fd, const char *server);
bool home_each_server(int fd, home_server_fn *fn, void *data);
/* Returns the canonical path: absolute, without links. Borrowed. */
const char *home_path(const struct home *home);
const char *home_server_name(const struct home *home);
int home_sessions_fd(const struct home *home);

#endif
