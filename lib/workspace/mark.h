/* SPDX-License-Identifier: MIT */
/* mark.h - recognises folders of a session that hold no results, by their entries. */
#ifndef WORKSPACE_MARK_H
#define WORKSPACE_MARK_H

/*
 * Returns "in a repository", "in a virtual environment" or "in a cache", or NULL for any other
 * folder. `folder` is a path below data, or "" for data itself. The result is static.
 */
const char *mark_of(int data_fd, const char *folder);

#endif
