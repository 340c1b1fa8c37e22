/* SPDX-License-Identifier: MIT */
/*
 * errortext.h - what interpreters and programs said of an error, searched for known words.
 *
 * Code chooses what they say, and how much. So of each text only its end is searched, where the
 * last error stands, and each line of that once.
 */
#ifndef ANSWER_ERROR_TEXT_H
#define ANSWER_ERROR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	ERROR_TEXT_NEEDLES_MAX = 7, /* fewer end in a NULL */
	ERROR_TEXT_MAX = 32 << 10,  /* bytes of a text that are searched */
};

struct error_text_line {
	const char *text;
	size_t len;
};

/* The last ERROR_TEXT_MAX bytes of `text`; NULL for NULL, also below. */
const char *error_text_end(const char *text);
bool error_text_any(const char *text, const char *const *needles);
/* The last of a traceback: what it is about, not what was handled on the way. */
const char *error_text_last_line(const char *text);
/*
 * The needle in which one of the last lines ends, at most `lines_max`; NULL: none does. What a file
 * says would rarely end so.
 */
const char *error_text_line_end(const struct buf *text, const char *const *needles,
				size_t lines_max);
/*
 * The next line of a traceback, from *at on, in which an exception ends that led to the last one,
 * or one of a group; false: there is none. No part of the text is in two lines.
 */
bool error_text_next_before(const char **at, struct error_text_line *ret_line);
/* Has one of those lines a needle? */
bool error_text_before(const char *traceback, const char *const *needles);

#endif
