/* SPDX-License-Identifier: MIT */
/*
 * html.h - writes text that others chose into an HTML page, so that it stays text.
 *
 * It is cleaned as text/sanitize.h says, and each of & < > " ' becomes a character reference. The
 * result is text in an element, and in a quoted attribute.
 */
#ifndef JOURNAL_HTML_H
#define JOURNAL_HTML_H

#include <stddef.h>

#include "base/buf.h"

/* Appends text of several lines. */
void html_block(struct buf *out, const char *text, size_t len);
/* Appends one line of at most `max_chars` (3 or more) characters. */
void html_line(struct buf *out, const char *text, size_t len, size_t max_chars);
/*
 * Appends code. It has no escape sequences that could be removed, because an interpreter reads
 * them: each control character but tab and line ends is written as <U+001B>.
 */
void html_code(struct buf *out, const char *code, size_t len);

#endif
