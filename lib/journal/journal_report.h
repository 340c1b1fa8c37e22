/* SPDX-License-Identifier: MIT */
/* journal_report.h - renders the report of a session: a page of HTML to read (report.h). */
#ifndef JOURNAL_JOURNAL_REPORT_H
#define JOURNAL_JOURNAL_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct journal;

/* Facts that the journal does not have. */
struct journal_report {
	const char *kept; /* the folder of the results, if no cell has it; or NULL */
	/* The first cell of the server that has the session, 0 for none: from it on, a cell without
	 * an end may run. */
	uint64_t live_from;
};

/*
 * Appends the next part of the report and moves *part, which is 0 at first, behind it. A part has
 * one cell at most. Appends nothing behind the last part, or if no cell ran. Returns -1 and sets
 * *err.
 */
int journal_read_report(const struct journal *journal, const struct journal_report *about,
			size_t *part, struct buf *out, struct err *err) MUST_CHECK;
/*
 * Renders the report after journal_draw_notebook(), without reading an ended cell again. Returns
 * its parts as a new reference: "head"; the first "size" bytes of the file JOURNAL_REPORT_FILE,
 * which no later call changes; "tail"; and "facts", those of journal_report_facts(). As in the
 * notebook, cells behind a running one that would make the tail longer than JOURNAL_TAIL_MAX are
 * only counted. Returns NULL and sets *err.
 */
json_t *journal_draw_report(const struct journal *journal, const struct journal_report *about,
			    struct err *err) MUST_CHECK;
/*
 * Returns what the head says, as a new reference: "session_id", "server", "kept", "begun", "ended",
 * "languages" (as in report.h), "cells" and "failed"; "title", that of the first cell with one; and
 * "pictures", the paths of the last figures below the session's folder, the last one first. Returns
 * NULL and sets *err.
 */
json_t *journal_report_facts(const struct journal *journal, const struct journal_report *about,
			     struct err *err) MUST_CHECK;

#endif
