/* SPDX-License-Identifier: MIT */
/* mounts.h - the file system of a share, and those that are mounted in it. */
#ifndef CONFINEMENT_MOUNTS_H
#define CONFINEMENT_MOUNTS_H

#include <stdbool.h>

/*
 * Returns the end of a sentence about the folder that says why names in it, or on a file system
 * that is mounted below it, cannot be held read-only. Returns NULL when they can. `folder` is a
 * descriptor of `path`. The caller frees the result.
 *
 * `*mounts` must be NULL before the first call. A call that returns NULL puts the list of the
 * mounts below the folder there, which the caller frees. Later calls try the mounts again
 * only when the list has changed; they do not try the folder itself again.
 */
char *mounts_objection(int folder, const char *path, char **mounts);
/*
 * Returns whether one of the paths lies in the other, as folder_path_overlaps does, or would if all
 * that is mounted in `folder` were seen by its other paths. Disks are not asked for that.
 */
bool mounts_overlap(const char *folder, const char *path);

#endif
