/* SPDX-License-Identifier: MIT */
/*
 * remove.h - removing a tree that somebody made to be hard to remove.
 *
 * Order {"op": "remove", "name": NAME}: below the folder, NAME goes. Folders inside are moved up
 * to the top before they are emptied, so depth needs neither memory, nor paths, nor a way back
 * up: whoever moves folders about meanwhile cannot lead us out. Links are not followed, mounts
 * not crossed, forbidding modes lifted. Ends when nothing is left, nothing more can be removed,
 * or after REMOVE_SECONDS_MAX.
 *
 * Result {"removed": N} and, unless all is gone, "problem".
 */
#ifndef FILES_REMOVE_H
#define FILES_REMOVE_H

#include <jansson.h>

#include "base/err.h"

enum { REMOVE_SECONDS_MAX = 900 };

int remove_run(int home_fd, const json_t *order, struct err *err) MUST_CHECK;

#endif
