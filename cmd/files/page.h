/* SPDX-License-Identifier: MIT */
/*
 * page.h - draws pages of HTML into files without a name, and recognises those that ptycell drew.
 *
 * A page ends with a line that has the checksum of all before it. A user who changes a page does
 * not renew the line, and the page is the user's from then on.
 */
#ifndef FILES_PAGE_H
#define FILES_PAGE_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "copy.h"

/* A page that is being written. */
struct page {
	int fd;
	uint32_t crc;
};

/*
 * Opens a file without a name in the folder, or in memory where the file system has none. Returns
 * -1 and sets *err.
 */
int page_open(int dir_fd, struct page *ret, struct err *err) MUST_CHECK;
int page_put(struct page *page, const struct buf *part, struct err *err) MUST_CHECK;
/* Writes the last line. Returns the descriptor, which the caller closes; -1 and sets *err. */
int page_finish(struct page *page, struct err *err) MUST_CHECK;
/*
 * Joins the report from {"head", "size", "tail"}, those of journal_draw_report(). Returns the
 * descriptor, which the caller closes. Returns -1 and sets *err.
 */
int page_join(int journal_fd, const json_t *parts, struct err *err) MUST_CHECK;
/* Describes the file `name` in `dir_fd` as a known copy if it is a page as ptycell drew it. */
void page_recognise(int dir_fd, const char *name, struct copy_known *known);

/*
 * Runs the request {"op": "keep-report", ..., "report": {"head", "size", "tail", "facts"}} with the
 * journal's folder: that of keep.h, with the report as a file {"to", "report": true}.
 */
int page_run(int journal_fd, json_t *request, struct err *err) MUST_CHECK;

#endif
