/* SPDX-License-Identifier: MIT */
/* folder_path.h - compares the places of folders, through links and mounts. */
#ifndef CONFINEMENT_FOLDER_PATH_H
#define CONFINEMENT_FOLDER_PATH_H

#include <stdbool.h>

/*
 * Returns true when one of the folders is the other one or lies in it. Both paths are absolute;
 * their links are followed as far as something is there, and folders are compared by device and
 * inode, as one may be mounted elsewhere.
 */
bool folder_path_overlaps(const char *a, const char *b);
/*
 * Returns a path without doubled slashes and without one at its end. Returns NULL for a path with
 * "." or "..". The caller frees the result.
 */
char *folder_path_plain(const char *path);
/* Returns an absolute path with its links followed as far as it is there. The caller frees it. */
char *folder_path_resolve(const char *path);

#endif
