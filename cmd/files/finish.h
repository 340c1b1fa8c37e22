/* SPDX-License-Identifier: MIT */
/*
 * finish.h - exports notebook and report of a session whose server died.
 *
 * Request {"op": "rescue-notebook", "root", "folder", "notebook", "report", "shown", "room"}: draws
 * notebook and report from the events in the given journal folder and copies them to root/folder,
 * under the given names. Those there that the dead server wrote are replaced. One that the user
 * changed stays, and the copy gets another name. Records of earlier versions have no "report".
 * Whole outputs that the dead server meant to export are copied to a folder "outputs" there, and so
 * is what the killed cell left if the notebook has only a part of it. Progress and result are those
 * of keep.h. Without cells nothing is done.
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
