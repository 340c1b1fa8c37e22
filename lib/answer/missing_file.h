/* SPDX-License-Identifier: MIT */
/*
 * missing_file.h - recognises code that opens a file of the user's machine, which a sandbox does
 * not have.
 */
#ifndef ANSWER_MISSING_FILE_H
#define ANSWER_MISSING_FILE_H

#include <stdbool.h>

#include "base/buf.h"

struct cell;

/*
 * Appends where uploads and shared folders are, if the cell's error is a file that is not there, in
 * a folder where users have theirs. Returns whether it is.
 */
bool missing_file_explain(struct buf *out, const struct cell *cell);

#endif
