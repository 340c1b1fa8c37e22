/* SPDX-License-Identifier: MIT */
/*
 * keeplog.h - a record of a session's copies, so that a later server updates them, too.
 *
 * The file KEEPLOG_FILE in the journal's folder has one line of JSON for each copy that was made:
 * {"from", "to", "ino", "mtime", "size", "linked", "input", "whole"}, paths percent-encoded. The
 * notebook is from "/", the report from "//". The last line of a file counts. {"folds": true} says
 * that the folder's file system ignores case. Lines are written after each export. If a server is
 * killed before, the copies are found again by their content.
 */
#ifndef WORKSPACE_KEEPLOG_H
#define WORKSPACE_KEEPLOG_H

#include <stdbool.h>

struct json_t;
struct keeper;
struct kept;

#define KEEPLOG_FILE "copies"
#define KEEPLOG_NOTEBOOK "/"
#define KEEPLOG_REPORT "//"
/*
 * The empty file of this name says that the server ended with results that no copy had yet, or
 * before notebook and report were copied as they are at the session's end.
 */
#define KEEPLOG_DUE "due"

/* Adds a copy to the lines that the next keeplog_write() writes. */
void keeplog_add(struct keeper *keeper, const struct kept *kept);
/* Writes the file anew with the next keeplog_write(), because copies were moved or are not ours. */
void keeplog_renew(struct keeper *keeper);
/* Writes what is new. A failure is only logged. */
void keeplog_write(struct keeper *keeper);
/*
 * Adds a copy that was made without a keeper, by the progress {"from", "to", "ino", "mtime",
 * "size", "whole"} of its helper; without "from" it is the notebook, or with "report" the report. A
 * failure is ignored.
 *
 * `request` is the helper's (cmd/files/rescue.h). If it replaces no copies, the recorded copy stays
 * the file's own: a copy made beside it is not added.
 */
void keeplog_append(int journal_fd, const struct json_t *progress, const struct json_t *request);
/* Makes or removes KEEPLOG_DUE. A failure is ignored. */
void keeplog_set_due(int journal_fd, bool due);
bool keeplog_is_due(int journal_fd);
/*
 * Returns the last line of each file of the session, as an object by its encoded "from": not those
 * of notebook, report, inputs and whole outputs. Returns NULL without a record.
 */
struct json_t *keeplog_copies(int journal_fd);
/* Fills the keeper's table. Returns whether there was a copy. */
bool keeplog_load(struct keeper *keeper);

#endif
