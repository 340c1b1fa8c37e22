/* SPDX-License-Identifier: MIT */
/*
 * rescue.h - copying the results of a session that died with its server (workspace/rescue.h).
 *
 * Order {"op": "rescue", "root", "folder", "room"}: every regular file in output/ of the given data
 * folder, and what lies beside it as results do (workspace/beside.h), that does not lie in
 * root/folder with the same content is copied there. Progress and
 * result as those of keep.h, whose files these are; {"left"} says what is not copied, and why.
 */
#ifndef FILES_RESCUE_H
#define FILES_RESCUE_H

#include <jansson.h>

#include "base/err.h"

enum { RESCUE_FILES_MAX = 20000, RESCUE_DEPTH_MAX = 60 };

int rescue_run(int data_fd, json_t *order, struct err *err) MUST_CHECK;

#endif
