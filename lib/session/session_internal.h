/* SPDX-License-Identifier: MIT */
/*
 * session_internal.h - what the parts of a session share.
 *
 *   session.c        the session's life, its runners and limits
 *   session_exec.c   code, from submission to its end
 *   session_call.c   who waits for an answer, and what it gets when
 *   session_ask.c    input that somebody else may give
 *   session_files.c  what comes after a cell: the scan, keeping results; lists of files
 *   session_lookout.c  repositories that code makes in shared folders, and who waits for a look
 *   session_notebook.c  the kept copy of the notebook
 *   session_uploads.c  results that go to the storage, and who waits for their links
 */
#ifndef SESSION_SESSION_INTERNAL_H
#define SESSION_SESSION_INTERNAL_H

#include "event/loop.h"
#include "runner/holdings.h"
#include "session/notices.h"
#include "session/session.h"

struct keeper;
struct lookout;
struct slot;
struct expect;
struct uploads;
struct watchdog;
struct workspace;

enum {
	SESSION_UNREPORTED_MAX = 4, /* of a language; then the oldest is forgotten */
	SESSION_ASKS_MAX = 3,       /* of a cell */
};

struct session_language;

/* Somebody who waits for an answer: with code that it brought, or looking on. */
struct call {
	struct list node; /* among lane->lookers when it brought none */
	struct session_language *lang;
	struct execution *exec;
	call_done_fn *done;
	void *data;
	struct loop_timer wait;
	struct expect *expected; /* or NULL */
	bool expected_seen;
	call_ask_fn *ask; /* or NULL */
	bool asking;
	bool again;       /* it came to ask about a wait once more */
	const char *note; /* told with the answer; or NULL */
	uint64_t since_ms;
};

/* The states of an execution, in the order in which it passes through them. */
enum exec_state {
	EXEC_NEW,        /* not submitted yet */
	EXEC_SUBMITTED,  /* queued or running: the runner knows which */
	EXEC_SCANNING,   /* ended; the session's files must be scanned */
	EXEC_SAVING,     /* scanned; its results must be exported */
	EXEC_INSPECTING, /* exported; shared folders must be inspected */
	EXEC_LINKING,    /* inspected; its uploads must get their links */
	EXEC_UNREPORTED, /* over; freed when an answer has reported it */
};

/* Code from its submission until an answer has reported its end. */
struct execution {
	struct list node; /* of the list that belongs to its state */
	enum exec_state state;
	struct session_language *lang;
	struct call *call;          /* that brought it; NULL when it was answered or cancelled */
	struct queued_cell *queued; /* NULL once the cell has ended */
	struct cell *cell;          /* then */
	struct runner *runner;      /* held until the scan is done; else NULL */
	uint64_t number;
	uint64_t generation; /* of the session when its code began; 0: it did not */
	bool cancelled;
	unsigned int asks;   /* how often somebody else was asked for input */
	uint64_t asked_wait; /* the last wait that was about */
	bool *keeps;         /* which of the cell's changes are kept; NULL: not yet chosen */
	char *keep_left;     /* what is not, as in workspace/beside.h */
	size_t kept_to;      /* changes before this one are kept, or not to be */
	size_t kept_count;
	bool kept_owed;        /* what earlier cells left was tried again with it */
	char *keep_problem;    /* the first one */
	char *keep_renamed;    /* as in struct keep_result */
	uint64_t look;         /* the number of the look at shared folders after it; 0: none */
	uint64_t upload;       /* the number of its results' handing over; 0: none */
	uint64_t upload_until; /* it waits no longer for their links */
};

/* A language of a session. */
struct session_language {
	struct session *session;
	struct runner *runner;
	struct list observers;
	struct list unreported; /* executions in EXEC_UNREPORTED, oldest first */
	struct cell last;       /* of the cell that ended last: number, language, state, time */
};

/* Somebody who waits for a list of files. */
struct listing {
	struct list node;
	void (*done)(void *data, const struct scan *scan);
	bool (*step)(void *data, const struct scan *scan); /* in place of `done` */
	void *data;
};

struct session {
	const struct session_host *host;
	char *id;
	uint64_t generation;
	struct notices notices;
	struct session_limits limits;
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct holder *holder;
	struct slot *slot; /* to be used by the first cell, if that is as was expected; or NULL */
	struct watchdog *watchdog; /* of the sandbox */
	struct proxy *proxy;       /* NULL: none yet, or no hosts */
	uint64_t net_bytes;        /* through those of earlier sandboxes */
	struct scan *scan;
	struct keeper *keeper;
	struct uploads *uploads; /* NULL without a storage */
	struct lookout *lookout; /* NULL without a shared folder that code writes */
	struct journal *journal;
	struct session_language languages[LANGUAGES_MAX];
	size_t language_count;
	uint64_t next_cell;
	uint64_t asks;                        /* how often the user was asked for input */
	const struct language *last_language; /* NULL before the first code */
	unsigned holds;
	uint64_t created_ms;
	uint64_t used_ms;

	struct list execs; /* executions that are not over, in the order of their last move */
	struct execution *keeping; /* its copy is under way */
	struct loop_timer link_wait;
	struct list listings;
	struct list walks; /* listings that have their scan, and go through it in steps */
	struct loop_defer walk;
	struct loop_timer renewal; /* runs while lists wait for fresh links */
	struct list placed;        /* files that the server itself put in: not a cell's changes */
	bool files_looking;        /* session_look_for_files() */
	uint64_t files_looked_ms;  /* when that began; afterwards when it may again */
	bool scanning_for_cell;    /* what the scan under way finds is a cell's */
	struct loop_defer work;    /* the next scan or copy */

	struct loop_timer notebook; /* its copy is due */
	uint64_t notebook_ms;       /* when its last copy began; then how long that took */
	bool notebook_copying;
	bool notebook_stale;  /* the journal grew since */
	bool notebook_failed; /* and it was said */
	bool notebook_owed;   /* the last copy failed */

	int counts_awaited; /* of session_count_children */
	int child_count;
	void (*counted)(struct session *session, int count, void *data);
	void *counted_data;
};

/* session.c */
/* The lane of this language, made when it is new. */
struct session_language *session_language_for(struct session *session,
					      const struct language *language);
struct session_language *session_language_of(struct session *session, const struct runner *runner);

/* Something happened after which session_state() may differ. */
void session_report_state(struct session *session);

/* session_notebook.c */
/* Makes what copies the session's results and its notebook. */
struct keeper *session_keeper_new(struct session *session);
/* Copies what is not copied yet; the copy outlives the session. */
void session_notebook_end(struct session *session);

/* session_exec.c */
/*
 * Moves an execution into its next state, and behind all others that are in it: each state is a
 * queue. The caller must free an execution in EXEC_UNREPORTED once it is reported.
 */
void session_exec_set_state(struct execution *exec, enum exec_state next);
/*
 * Returns the execution in `state` that has been in it for the longest time, or the next one after
 * `after` (NULL: none). Returns NULL when there is none.
 */
struct execution *session_exec_in_state(const struct session *session, enum exec_state state,
					const struct execution *after);
/* All that belongs to the end of this code is done: it can be told. */
void session_exec_over(struct execution *exec);
/* Runner handlers. */
void session_on_ended(struct runner *runner, struct cell *cell_own, void *data);
/* Ends all executions that are not over, because of `why`: they can no longer run to their end. */
void session_end_execs(struct session *session, const char *why);
/* The oldest of a lane that is not over: it runs, or ended, or will be the next; NULL: none. */
struct execution *session_first_exec(const struct session_language *lang);
/* Of the cell that ran last, also while what it wrote is still being kept. */
uint64_t session_last_number(const struct session_language *lang);
/* What runs, or will run, before it; NULL when nothing does. */
struct execution *session_exec_ahead(const struct execution *exec);
/* Its turn did not come, because `ahead` still runs: tells that it was not started. */
void session_exec_withdraw(struct execution *exec, const struct execution *ahead);
/* Withdraws what is next in a lane and did not begin, as its interpreter starts; false: none. */
bool session_exec_stop_queued(struct session_language *lang);
/* Its call was cancelled. */
void session_exec_cancel(struct execution *exec);
void session_exec_free(struct execution *exec);

/* session_call.c */
struct call *session_call_new(struct session_language *lang, struct execution *exec,
			      call_done_fn *done, void *data);
/* Answers a call at the latest after `ms`; 0: in the next turn. */
void session_call_wait(struct call *call, uint64_t ms);
/* Code ended: answers whoever waits for it. */
void session_answer_waiters(struct session_language *lang, struct execution *exec);
/* Runner handlers. */
void session_on_waits(struct runner *runner);
void session_on_resumed(struct runner *runner);
void session_on_unanswered(struct runner *runner);
void session_on_stuck(struct runner *runner, const char *how);
void session_on_overdue(struct runner *runner);
void session_on_wrote(struct runner *runner, const char *data, size_t len);
/* The session ends: answers those who look on, and forgets what was told to nobody. */
void session_language_release(struct session_language *lang);

/* session_ask.c */
/* The cell waits: true when somebody else is asked, and the call may be gone. */
bool session_call_ask(struct call *call, struct execution *exec);
/* The same for a call that came to ask about a wait once more; false as well when it did not. */
bool session_call_ask_again(struct call *call);
/* This wait, if it lasts, may be asked about once more. */
void session_may_ask_again(struct call *call, const struct wait_name *wait);
/* Types a line to this wait, if it lasts; false when it is over already. */
bool session_answer_wait(struct session_language *lang, const struct wait_name *wait,
			 const char *line, size_t len);

/* session_files.c */
/* Where somebody wants to know what processes write while no cell runs, it is looked. */
void session_look_for_files(struct session *s);
/* Looks at the files of a new session: the start of all comparing. */
void session_scan_first(struct session *session);
/*
 * The code of the session ends: what its files are now is what is kept, also what processes wrote
 * in the background since its last cell. It is copied when the keeper is freed.
 */
void session_keep_last(struct session *session);
/* Scans if an execution in EXEC_SCANNING or a list of files waits for that. */
void session_scan_next(struct session *session);
/* Tells everybody who waits for a list that there is none. */
void session_end_listings(struct session *session);

/* In the next turn, what waits for a scan gets one. */
void session_scan_soon(struct session *session);

/* session_lookout.c */
void session_lookout_new(struct session *session);
/* Looks at shared folders, while something runs. */
void session_lookout_ask(struct session *session);
/* The same, for code that has just ended. */
void session_lookout_after(struct execution *exec);
/* False: that look is over. Else session_exec_kept follows once more. */
bool session_lookout_wait(struct execution *exec);

/* It tells this session nothing more: the caller's. NULL without one. */
struct lookout *session_lookout_end(struct session *session);

/* session_uploads.c */
void session_uploads_new(struct session *session);
void session_uploads_limit(struct session *session);
/* Its files were looked at: results are on their way from here on. */
void session_upload(struct execution *exec);
/*
 * Has links that expired made anew. Lists of files wait for that while session_uploads_hold says
 * so, and are looked at again then.
 */
void session_uploads_renew(struct session *session);
bool session_uploads_hold(const struct session *session);
/* Its results are kept: over, unless it waits for a look or for links. */
void session_exec_kept(struct execution *exec);

/* session_events.c */
void session_report_event(struct session *session, const struct session_event *event);
/* Of runners: struct runner_handlers. */
void session_on_typed(struct runner *runner, const char *text, size_t len, bool hidden);
void session_on_lost(struct runner *runner, const char *why, bool reported);

#endif
