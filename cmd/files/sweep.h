/* SPDX-License-Identifier: MIT */
/*
 * sweep.h - removes folders of ended sessions (workspace/lasting.h) that are too old or too many.
 *
 * Request {"op": "sweep", "age_s", "bytes_max"}: descriptor 3 is the home. Removes each folder that
 * was not used for `age_s`, then the longest unused until the others take at most `bytes_max`. A
 * folder that is nested deeper than SWEEP_DEPTH_MAX has no known size and is removed first. A
 * folder that a server takes over meanwhile stays: both take it by one rename. A folder
 * that is not as a server made it is left alone.
 *
 * Progress {"session_id", "why": "age" or "size", "bytes", "used_s"} for each folder that is
 * removed. Result {"removed", "bytes"}: how many, and what stays. The size of a folder is stored in
 * it, because no file in it changes until it is resumed.
 */
#ifndef FILES_SWEEP_H
#define FILES_SWEEP_H

#include <jansson.h>

#include "base/err.h"

enum { SWEEP_DEPTH_MAX = 1000 };

/* Runs the request and sends the result. Returns -1 and sets *err. */
int sweep_run(int home_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
