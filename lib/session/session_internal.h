/* SPDX-License-Identifier: MIT */
/*
 * session_internal.h - what the parts of a session share.
 *
 *   session.c        the session's life, its runners and limits
 *   session_exec.c   calls, from submission to answer
 *   session_files.c  what comes after a cell: the scan, keeping results; lists of files
 */
#ifndef SESSION_SESSION_INTERNAL_H
#define SESSION_SESSION_INTERNAL_H

#include "event/loop.h"
#include "session/session.h"

struct keeper;
struct workspace;

enum { SESSION_LANGUAGES_MAX = 8 };

/* A call from its submission to its answer. */
struct exec {
	struct list node;
	struct session *session;
	struct run *run;       /* NULL once the cell has ended */
	struct cell *cell;     /* then */
	struct runner *runner; /* held until the scan is done; else NULL */
	exec_done_fn *done;
	void *data;
	bool abandoned;
	size_t kept_to; /* changes before this one are kept, or no results */
	size_t kept_count;
	char *keep_problem; /* the first one */
};

/* Somebody who waits for a list of files. */
struct listing {
	struct list node;
	void (*done)(void *data, const struct scan *scan);
	void *data;
};

struct session {
	const struct session_host *host;
	char *id;
	uint64_t generation;
	char *notice;
	struct session_limits limits;
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct proxy *proxy; /* NULL: none yet, or no hosts */
	struct scan *scan;
	struct keeper *keeper;
	struct runner *runners[SESSION_LANGUAGES_MAX];
	size_t runner_count;
	uint64_t next_cell;
	uint64_t created_ms;
	uint64_t used_ms;

	struct list execs;    /* submitted: queued or running */
	struct list to_scan;  /* ended, their files not looked at */
	struct list to_keep;  /* looked at, their results not kept */
	struct exec *keeping; /* its copy is under way */
	struct list listings;
	struct loop_defer work; /* the next scan or copy */

	int counts_awaited; /* of session_count_children */
	int child_count;
	void (*counted)(struct session *session, int count, void *data);
	void *counted_data;
};

/* session.c */
/* The runner of this language, made when it is new. */
struct runner *session_runner_for(struct session *session, const struct language *language);

/* session_exec.c */
/* Answers a call whose cell is over and frees it. */
void session_answer(struct session *session, struct exec *exec);
/* A runner's cell ended: runner_handlers.ended. */
void session_on_ended(struct runner *runner, struct cell *cell_own, void *data);
/* Answers all of them with what there is: they can no longer run to their end. */
void session_answer_all(struct session *session, struct list *execs, const char *why);

/* session_files.c */
/* Looks at the files of a new session: the start of all comparing. */
void session_scan_first(struct session *session);
/* A cell waits in to_scan. */
void session_scan_next(struct session *session);
/* Tells everybody who waits for a list that there is none. */
void session_end_listings(struct session *session);

#endif
