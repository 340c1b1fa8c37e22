/* SPDX-License-Identifier: MIT */
/*
 * audit.h - a file of the user's own, to which each event adds one line of JSON; or the system's
 * log (audit_socket.h), by a target that begins with "syslog:" or "journald:".
 *
 * The file is made with mode 0600, opened for appending only, through no symbolic link, and never
 * while a session could stop us: a file that is not a regular one of ours is refused. Opened anew
 * for each line, so that it may be moved away at any time. Servers that share it lock it for a
 * line: no line is torn, and the start of one that a killed server wrote is taken out.
 */
#ifndef JOURNAL_AUDIT_H
#define JOURNAL_AUDIT_H

#include <jansson.h>

#include "base/err.h"

/*
 * Returns why nothing could be added to the file, as a sentence that says what to do; NULL when all
 * is well. Makes no file. The caller frees it.
 */
char *audit_refusal(const char *target);
/* The same sentence, of a line that could not be added. */
char *audit_refuse(const char *target, const struct err *err);
/* Adds the line as a whole, or nothing of it. Its first member is "v". */
int audit_append(const char *target, const json_t *line, struct err *err) MUST_CHECK;

#endif
