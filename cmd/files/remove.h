/* SPDX-License-Identifier: MIT */
/*
 * remove.h - removes a tree that untrusted code may have made hard to remove.
 *
 * Request {"op": "remove", "name": NAME}: removes NAME below the folder. Inner folders are moved up
 * to the top before they are emptied. Depth therefore needs neither memory, nor paths, nor a way
 * back up, and a process that moves folders meanwhile cannot lead the removal out of the tree.
 * Links are not followed, mounts are not crossed, forbidding modes are lifted. Ends when nothing is
 * left, when nothing more can be removed, or after REMOVE_SECONDS_MAX.
 *
 * Result {"removed": N}, and "problem" unless all is gone.
 */
#ifndef FILES_REMOVE_H
#define FILES_REMOVE_H

#include <jansson.h>

#include "base/err.h"

enum { REMOVE_SECONDS_MAX = 900 };

/* Runs the request and sends the result. Returns -1 and sets *err. */
int remove_run(int home_fd, const json_t *request, struct err *err) MUST_CHECK;

/*
 * Removes the tree `name` in `home_fd`, which has a hidden name. Leaves this process its rights.
 * Returns 0, or the errno of what stays.
 */
int remove_tree(int home_fd, const char *name);

#endif
