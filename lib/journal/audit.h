/* SPDX-License-Identifier: MIT */
/*
 * audit.h - appends one line of JSON per event to a file of the user, or to the system's log.
 *
 * A target that begins with "syslog:" or "journald:" is the system's log (audit_socket.h). A file
 * is made with mode 0600 and opened only for appending, without following symbolic links, in a way
 * that no session can block. A file that is not a regular file of ours is refused. It is opened for
 * each line, so that the user may move it away at any time. Servers that share a file lock it for
 * each line: no line is torn, and the incomplete line of a killed server is removed.
 */
#ifndef JOURNAL_AUDIT_H
#define JOURNAL_AUDIT_H

#include <jansson.h>

#include "base/err.h"

/*
 * Returns a sentence that says why the target cannot be written and how to correct it, or NULL.
 * Makes no file. The caller frees the result.
 */
char *audit_refusal(const char *target);
/* Returns the same sentence for a line that could not be appended. The caller frees the result. */
char *audit_refuse(const char *target, const struct err *err);
/* Returns "file" or "log". */
const char *audit_kind(const char *target);
/*
 * Appends the whole line, or nothing. The first member of `line` must be "v". Returns -1 and sets
 * *err.
 */
int audit_append(const char *target, const json_t *line, struct err *err) MUST_CHECK;

#endif
