/* SPDX-License-Identifier: MIT */
/* home.h - what this layer's own files need of a home beyond workspace.h. */
#ifndef WORKSPACE_HOME_H
#define WORKSPACE_HOME_H

#include "workspace/workspace.h"

/* Folders that are being removed: hidden, locked (flock on the folder) by their remover. */
#define HOME_REMOVE_PREFIX ".remove-"

/* Borrowed; absolute, without a slash at the end. */
const char *home_path(const struct home *home);
const char *home_server_name(const struct home *home);
int home_sessions_fd(const struct home *home);

#endif
