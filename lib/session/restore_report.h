/* SPDX-License-Identifier: MIT */
/* restore_report.h - the report of a replay of cells (restore.h), as sentences. */
#ifndef SESSION_RESTORE_REPORT_H
#define SESSION_RESTORE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct aside_result;

/* A list for one sentence, which names RESTORE_LIST_MAX entries, or more that must be named. */
struct restore_list {
	struct buf text;
	size_t count;
	size_t named;
};

enum { RESTORE_LIST_MAX = 10, RESTORE_CLOSED_MAX = 1000 };

/* Zero-initialised, then restore_report_init. */
struct restore_report {
	const char *session_id; /* borrowed */
	size_t run;             /* cells that ran to their end */
	size_t left;            /* cells that were not reached */
	uint64_t ms;
	uint64_t generation;          /* 0: no state was lost */
	size_t missing_cells;         /* cells that are not in the record */
	char *stopped;                /* "cell 3, which raised ValueError: x"; or NULL */
	char *problem;                /* why the files could not be put back; or NULL */
	struct restore_list skipped;  /* cells that were not run */
	struct restore_list failed;   /* cells that had failed when they were recorded */
	struct restore_list lost;     /* recorded cells before which variables were lost */
	struct restore_list gone;     /* interpreters that ended in the replay */
	struct restore_list inputs;   /* files that may not be as cells had them */
	struct restore_list differs;  /* files that the replay left in another state */
	struct restore_list open;     /* those that open handles do not reach */
	struct restore_list unknown;  /* the same, if there are handles: that is not known */
	struct restore_list closed;   /* files of what drivers closed before */
	struct restore_list unclosed; /* interpreters that did not close all of that */
	struct restore_list stays;    /* new ones that stay */
	struct restore_list cut;      /* interpreters of before that did not end by themselves */
	struct restore_list folders;  /* shared folders */
	struct restore_list shares;   /* cells that name one of them */
	struct restore_list active;   /* languages in which threads or timers of the cells go on */
	struct restore_list refused;  /* cells that wanted to reach a host, which they could not */
	struct restore_list hosts;    /* hosts that cells reached */
	struct restore_list scratch;  /* files of /tmp and /dev/shm that are gone */
	bool scratch_anew;            /* these had files, and began empty */
	size_t processes;             /* that the cells left running */
	uint64_t saved_cell;          /* restore_values brings its variables back; 0: none */
	bool outside;                 /* cells could change what is outside the session */
	bool sockets;                 /* cells could use Unix sockets in shared folders */
	bool holds;                   /* the session may reach hosts or write in shares, but while
					 cells ran again it could not, unless `outside` is set */
	bool unconfined;              /* nothing confines cells */
};

void restore_report_init(struct restore_report *report, const char *session_id);
void restore_report_release(struct restore_report *report);
/* Adds an entry. Its text is clean. */
void restore_report_add(struct restore_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Adds closed files, by lines of `close-named` (runtime/frame.h). They are untrusted, and NULL if
 * there are none.
 */
void restore_report_add_closed(struct restore_report *report, const char *lines, size_t len);
/* Adds the files that a job reported: to the list, or to those of other enum aside_list. */
void restore_report_add_files(struct restore_report *report, struct restore_list *list,
			      const struct aside_result *result);
/* Returns the report as sentences. The caller frees it. */
char *restore_report_text(const struct restore_report *report);

#endif
