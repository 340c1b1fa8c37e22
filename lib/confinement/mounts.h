/* SPDX-License-Identifier: MIT */
/* mounts.h - the file system of a share, and those that are mounted in it. */
#ifndef CONFINEMENT_MOUNTS_H
#define CONFINEMENT_MOUNTS_H

#include <stdbool.h>

/*
 * Returns the end of a sentence about the folder that says why names in it, or on a file system
 * that is mounted below it, cannot be held read-only. Returns NULL when they can. `folder` is
 * `path`. The caller frees the result. `*mounts` is NULL at first, and then memory of the caller's:
 * what was tried is not tried again until another list of mounts is there.
 */
char *mounts_objection(int folder, const char *path, char **mounts);
/*
 * Returns whether one of the paths lies in the other, as folder_path_overlaps does, or would if all
 * that is mounted in `folder` were seen by its other paths. Disks are not asked for that.
 */
bool mounts_overlap(const char *folder, const char *path);

#endif
