/* SPDX-License-Identifier: MIT */
/* say.h - lines of doctor's report. */
#ifndef SERVER_SAY_H
#define SERVER_SAY_H

#include "base/util.h"

/* One line; the topic is empty where a line goes on with the one above. */
void say(const char *topic, const char *fmt, ...) PRINTF_LIKE(2, 3);
/*
 * Text of several lines, each wrapped at blanks; one that begins with a blank is something to type
 * and stays whole.
 */
void say_text(const char *topic, const char *text);
/* A path on one line of its own, whole: unlike in an answer to a model, it may be long here. */
char *say_path(const char *path);

#endif
