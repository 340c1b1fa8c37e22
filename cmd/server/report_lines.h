/* SPDX-License-Identifier: MIT */
/* report_lines.h - formats the lines of doctor's report. */
#ifndef SERVER_REPORT_LINES_H
#define SERVER_REPORT_LINES_H

#include "base/util.h"

/* Prints one line. An empty topic continues the line above. */
void report_line(const char *topic, const char *fmt, ...) PRINTF_LIKE(2, 3);
/*
 * Prints text of several lines, each wrapped at blanks. A line that begins with a blank is a
 * command to type and stays whole.
 */
void report_text(const char *topic, const char *text);
/*
 * Returns `path` for a line of its own, at full length. Answers to models shorten paths; a report
 * need not. The caller frees the result.
 */
char *report_quote_path(const char *path);

#endif
