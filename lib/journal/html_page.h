/* SPDX-License-Identifier: MIT */
/*
 * html_page.h - the frame that all our pages have: files that run no script and make no request.
 *
 * The policy in the head forbids all but the style sheet (report.css), by its digest, and pictures.
 */
#ifndef JOURNAL_HTML_PAGE_H
#define JOURNAL_HTML_PAGE_H

#include "base/buf.h"

/*
 * Begins the page, up to <body>. `pictures` is where its policy allows pictures from: "data:" or
 * "file:". The title is cleaned.
 */
void html_page_begin(struct buf *out, const char *title, const char *pictures);
void html_page_end(struct buf *out);
/* Appends a time as recorded (2026-11-27T15:11:49.622Z) to the minute; another form as it is. */
void html_page_time(struct buf *out, const char *time);

#endif
