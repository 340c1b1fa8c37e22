/* SPDX-License-Identifier: MIT */
/* home.h - what the jobs of helpers need of a home beyond workspace.h. */
#ifndef WORKSPACE_HOME_H
#define WORKSPACE_HOME_H

#include "base/list.h"
#include "workspace/workspace.h"

/* A server's folder. */
#define HOME_SERVER_PREFIX "server-"
/* In it: those of its sessions. */
#define HOME_SESSIONS "sessions"
/* Folders that are being removed: hidden, locked (flock on the folder) by their remover. */
#define HOME_REMOVE_PREFIX ".remove-"

/*
 * A helper's run that outlives whoever started it: a removal, or a copy whose keeper was freed. It
 * takes itself out of the home's list when it ends. home_close() leaves those still running.
 */
struct home_job {
	struct list node;
	void (*leave)(struct home_job *job, int wait_ms); /* frees it; the helper goes on */
};

void home_add_job(const struct home *home, struct home_job *job);
/* For jobs that outlive their workspace. */
const struct home *workspace_home(const struct workspace *workspace);

/* Of the folders down to a session's own. */
mode_t home_folder_mode(void);
/* Borrowed; canonical: absolute, without links. */
const char *home_path(const struct home *home);
const char *home_server_name(const struct home *home);
int home_sessions_fd(const struct home *home);

#endif
