/* SPDX-License-Identifier: MIT */
/* home.h - the part of a home that helper jobs need, beyond workspace.h. */
#ifndef WORKSPACE_HOME_H
#define WORKSPACE_HOME_H

#include "base/list.h"
#include "workspace/workspace.h"

/* The name of a server's folder begins with this. */
#define HOME_SERVER_PREFIX "server-"
/* The folder of the sessions, within a server's folder. */
#define HOME_SESSIONS "sessions"
/*
 * The name of a folder that is being removed begins with this. It is hidden, and locked (flock on
 * the folder) by its remover.
 */
#define HOME_REMOVE_PREFIX ".remove-"

/*
 * A helper process that outlives its owner: a removal, or an export whose exporter was freed. The
 * job removes itself from the home's list when it ends. home_close() detaches the jobs that still
 * run.
 */
struct home_job {
	struct list node;
	void (*leave)(struct home_job *job, int wait_ms); /* frees the job; the helper continues */
};

void home_add_job(const struct home *home, struct home_job *job);
/* Returns the workspace's home, for jobs that outlive their workspace. */
const struct home *workspace_home(const struct workspace *workspace);

/* Returns the mode of the folders above a session's own folder. */
mode_t home_folder_mode(void);
/* Returns the canonical path: absolute, without links. Borrowed. */
const char *home_path(const struct home *home);
const char *home_server_name(const struct home *home);
int home_sessions_fd(const struct home *home);

#endif
