/* SPDX-License-Identifier: MIT */
/* entry.h - one cell, as the journal takes it when it is asked for and when it is over. */
#ifndef JOURNAL_ENTRY_H
#define JOURNAL_ENTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal_image {
	const char *mime; /* image/png or image/jpeg */
	const char *file; /* its name in output/, foreign; or NULL */
	const void *data;
	size_t len;
};

/* The language of queries: they are in no script, and a notebook shows them without running them.
 */
#define JOURNAL_SQL "sql"

/* States of cells that have no end. */
#define JOURNAL_QUEUED "queued"
#define JOURNAL_RUNNING "running"
#define JOURNAL_KILLED "killed"

/* A cell that is asked for. Everything is borrowed for the call it is given to. */
struct journal_asked {
	uint64_t number;
	const char *language; /* static */
	const char *code;     /* may hold NUL */
	size_t code_len;
	uint64_t timeout_ms; /* its deadline; 0: none */
};

/* Everything is borrowed for the call it is given to; strings are NULL when there is nothing. */
struct journal_entry {
	uint64_t number;
	const char *language; /* static; "" for a cell that reached no interpreter */
	const char *state;    /* static: "done", "raised", ... */
	bool ran;             /* else it is in the journal, but not in the notebook or script */
	const char *code;     /* may hold NUL; only the notebook reads it */
	size_t code_len;
	const char *text; /* the terminal's, cleaned */
	size_t text_len;
	/*
	 * A file of the spool (its path; NULL: none) whose first `spooled` bytes are the terminal's
	 * output, whole: what stands behind the first `lead` bytes of `text`.
	 */
	const char *spool_path;
	size_t spooled;
	size_t lead;
	const char *value; /* foreign from here on, not cleaned */
	const char *traceback;
	bool settled; /* these two are clean, and no secret is in them */
	const char *error_name;
	const char *error_text;
	const char *note;     /* how it ended, a sentence, when that is not in the traceback */
	const char *left_out; /* "HTML, SVG": forms of its values that are not in it */
	const struct journal_image *images;
	size_t image_count;
	size_t figures_left_out; /* that lie in output/ and are not among them */
	json_t *record;          /* everything else about it: an object */
};

#endif
