/* SPDX-License-Identifier: MIT */
/* index_page.h - renders the page that lists the sessions whose results are in one folder. */
#ifndef JOURNAL_INDEX_PAGE_H
#define JOURNAL_INDEX_PAGE_H

#include <jansson.h>

#include "base/buf.h"

enum { INDEX_PAGE_ROWS_MAX = 1000 /* more rows make a page slow and long */ };

/*
 * Appends the page. Each row, the first one at the top, is {"link", "picture", "session_id",
 * "title", "begun", "ended", "languages", "cells", "failed"}; the last six as
 * journal_report_facts() has them. "link" and "picture", which may be missing, are relative and
 * percent-encoded. Values of another type are left out. A note counts the rows above
 * INDEX_PAGE_ROWS_MAX.
 */
void index_page_draw(struct buf *out, const json_t *rows);

#endif
