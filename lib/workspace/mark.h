/* SPDX-License-Identifier: MIT */
/* mark.h - folders of the session that hold no results, by what lies in them. */
#ifndef WORKSPACE_MARK_H
#define WORKSPACE_MARK_H

/*
 * "in a repository", "in a virtual environment" or "in a cache"; NULL of any other folder. `folder`
 * is a path below data, "" for that itself. Static.
 */
const char *mark_of(int data_fd, const char *folder);

#endif
