/* SPDX-License-Identifier: MIT */
/*
 * audit.h - a file of the person's own, to which each cell adds one line of JSON.
 *
 * Made with mode 0600, opened for appending only, through no symbolic link, and never while a
 * session could stop us: a file that is not a regular one of ours is refused. Opened anew for each
 * line, so that it may be moved away at any time.
 */
#ifndef JOURNAL_AUDIT_H
#define JOURNAL_AUDIT_H

#include <jansson.h>

#include "base/err.h"

/*
 * Returns why nothing could be added to the file, as a sentence that says what to do; NULL when all
 * is well. Makes no file. The caller frees it.
 */
char *audit_refusal(const char *path);
/* Several servers may share the file: a line is one write. */
int audit_append(const char *path, const json_t *line, struct err *err) MUST_CHECK;

#endif
