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

/* Several servers may share the file: a line is one write. */
int audit_append(const char *path, const json_t *line, struct err *err) MUST_CHECK;

#endif
