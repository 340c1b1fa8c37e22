/* SPDX-License-Identifier: MIT */
/*
 * entry.h - one cell, in the forms in which the journal gets it: when it is requested and when it
 * ended.
 */
#ifndef JOURNAL_ENTRY_H
#define JOURNAL_ENTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal_image {
	const char *mime; /* image/png or image/jpeg */
	const char *file; /* its name in output/, untrusted; may be NULL */
	const void *data;
	size_t len;
};

/*
 * The language of queries. They are in no script, and a notebook shows them without running them.
 */
#define JOURNAL_SQL "sql"

/* The states of cells that have not ended. */
#define JOURNAL_QUEUED "queued"
#define JOURNAL_RUNNING "running"
#define JOURNAL_KILLED "killed"

/* A requested cell. Everything is borrowed for the call. */
struct journal_asked {
	uint64_t number;
	const char *language; /* static */
	const char *code;     /* may hold NUL */
	size_t code_len;
	uint64_t timeout_ms; /* deadline; 0: none */
	const char *title;   /* clean and without secrets; or NULL */
	bool begins;         /* its beginning follows at once: both are written together */
};

/* A cell that ended. Everything is borrowed for the call. Strings are NULL if there is none. */
struct journal_entry {
	uint64_t number;
	const char *language; /* static; "" for a cell that reached no interpreter */
	const char *state;    /* static: "done", "raised", ... */
	bool ran;         /* otherwise it is in the journal, but not in the notebook or script */
	const char *code; /* may hold NUL; only the notebook reads it */
	size_t code_len;
	const char *title; /* what the model calls it, or NULL */
	const char *text;  /* terminal output, cleaned */
	size_t text_len;
	/*
	 * The path of a spool file, or NULL. Its first `spooled` bytes are the whole terminal
	 * output, which follows the first `lead` bytes of `text`.
	 */
	const char *spool_path;
	size_t spooled;
	size_t lead;
	/* The path beside the exported notebook of a file with all of its output, or NULL. */
	const char *whole;
	const char *value; /* from here on untrusted, not cleaned */
	const char *traceback;
	bool settled; /* these two are clean and without secrets */
	const char *error_name;
	const char *error_text;
	const char *note; /* a sentence that says how it ended, unless the traceback does */
	/* The value as a table, or the rows of a query (table.h); or NULL. Without secrets. */
	json_t *table;
	const char *left_out; /* "HTML, SVG": forms of its values that are left out */
	const struct journal_image *images;
	size_t image_count;
	size_t figures_left_out; /* figures in output/ that are not in `images` */
	json_t *record;          /* an object with everything else */
};

#endif
