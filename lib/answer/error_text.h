/* SPDX-License-Identifier: MIT */
/*
 * error_text.h - searches the error texts of interpreters and programs for known words.
 *
 * Code chooses these texts and their length. So only the end of each text is searched, where the
 * last error is, and each of its lines once.
 */
#ifndef ANSWER_ERROR_TEXT_H
#define ANSWER_ERROR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	ERROR_TEXT_NEEDLES_MAX = 11, /* a shorter list ends with NULL */
	ERROR_TEXT_MAX = 32 << 10,   /* bytes at the end of a text that are searched */
};

struct error_text_line {
	const char *text;
	size_t len;
};

/* Returns the last ERROR_TEXT_MAX bytes of `text`. Returns NULL for NULL. */
const char *error_text_end(const char *text);
/* Returns whether error_text_find finds one of the needles. `text` may be NULL. */
bool error_text_any(const char *text, const char *const *needles);
/* Returns the last line: the error itself, not one that was handled before. NULL for NULL. */
const char *error_text_last_line(const char *text);
/* Returns whether the words are in the last call of a Python traceback, or in the text after it. */
bool error_text_last_call_has(const char *traceback, const char *words);
/*
 * Returns the needle with which one of the last `lines_max` lines ends, or NULL. A line of a file's
 * content rarely ends so. Python may name a file behind it.
 */
const char *error_text_line_end(const struct buf *text, const char *const *needles,
				size_t lines_max);
/* Returns the first needle of the list that is in the end of `text` (error_text_end), or NULL. */
const char *error_text_find(const char *text, const char *const *needles);
/*
 * Finds the next line of a traceback, from *at on, that names an exception which led to the last
 * one, or one of a group. Returns false when there is none. No part of the text is in two lines.
 */
bool error_text_next_before(const char **at, struct error_text_line *ret_line);
/* Returns whether one of these lines has a needle. */
bool error_text_before(const char *traceback, const char *const *needles);

#endif
