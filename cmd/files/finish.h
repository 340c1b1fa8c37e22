/* SPDX-License-Identifier: MIT */
/*
 * finish.h - keeping the notebook of a session that died with its server.
 *
 * Order {"op": "rescue-notebook", "root", "folder", "notebook", "room"}: the notebook is drawn from
 * the events of the given journal folder and copied to root/folder, by the name that is given. A
 * notebook that lies there as the dead server left it is replaced; one that its user has changed
 * stays, and the copy gets another name.
 * Progress and result as those of keep.h, whose file it is. Without cells nothing is done.
 */
#ifndef FILES_FINISH_H
#define FILES_FINISH_H

#include <jansson.h>

#include "base/err.h"

int finish_run(int journal_fd, json_t *order, struct err *err) MUST_CHECK;

#endif
