/* SPDX-License-Identifier: MIT */
/*
 * rescue.h - exports the results of a session whose server died (workspace/rescue.h).
 *
 * Request {"op": "rescue", "root", "folder", "room", "recorded", "replaces"}: copies to root/folder
 * every regular file in output/ of the given data folder, and the results beside it
 * (workspace/beside.h), unless the same content is there already. "recorded" has the copies that
 * the server made (keeplog_copies in workspace/keeplog.h). If it "replaces", an earlier copy of a
 * file is replaced, unless the user has changed it. Progress and result are those of keep.h.
 * {"left"} reports what is not copied, and why.
 */
#ifndef FILES_RESCUE_H
#define FILES_RESCUE_H

#include <jansson.h>

#include "base/err.h"

enum { RESCUE_FILES_MAX = 20000, RESCUE_DEPTH_MAX = 60 };

/* Runs the request and sends the result. Changes `request`. Returns -1 and sets *err. */
int rescue_run(int data_fd, json_t *request, struct err *err) MUST_CHECK;

#endif
