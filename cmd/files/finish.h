/* SPDX-License-Identifier: MIT */
/*
 * finish.h - exports the notebook of a session whose server died.
 *
 * Request {"op": "rescue-notebook", "root", "folder", "notebook", "room"}: draws the notebook from
 * the events in the given journal folder and copies it to root/folder, under the given name. A
 * notebook there that the dead server wrote is replaced. One that the user changed stays, and the
 * copy gets another name. Progress and result are those of keep.h. Without cells nothing is done.
 */
#ifndef FILES_FINISH_H
#define FILES_FINISH_H

#include <jansson.h>

#include "base/err.h"

/* Runs the request and sends the result. Changes `request`. Returns -1 and sets *err. */
int finish_run(int journal_fd, json_t *request, struct err *err) MUST_CHECK;

/*
 * Reports each cell that ran when the server was killed: {cell, language}. Returns -1 and sets
 * *err.
 */
int finish_report_cells(int journal_fd, struct err *err) MUST_CHECK;

#endif
