/* SPDX-License-Identifier: MIT */
/*
 * session_internal.h - shared by the modules of a session.
 *
 *   - session.c: a session, its languages and limits; session_facts.c: its id and state
 *   - session_end.c, quitting.c: its end, and interpreters that end by themselves
 *   - session_exec.c: executions, that is code from its submission to its reported end
 *   - session_call.c: calls, that is which caller is answered, when and with what
 *   - session_elicit.c: input that the user may give in place of the model
 *   - session_files.c: the scan after a cell; lists of files
 *   - session_keep.c: the export of results, and of inputs
 *   - session_inspection.c: inspections of shared folders for repositories that code makes
 *   - session_notebook.c: the exported copy of the notebook
 *   - session_restore_begin.c, session_restore.c, session_rerun.c: run the recorded cells again
 *   - session_ask.c: the pipes by which programs ask for packages
 *   - session_uploads.c: results that go to the storage, and the wait for their links
 *   - session_resume.c: the record of a session, and what its later life takes from it
 *   - session_events.c: events for the host
 */
#ifndef SESSION_SESSION_INTERNAL_H
#define SESSION_SESSION_INTERNAL_H

#include "event/loop.h"
#include "runner/holdings.h"
#include "session/notices.h"
#include "session/quitting.h"
#include "session/session.h"

struct asking;
struct keeper;
struct inspector;
struct slot;
struct expect;
struct lostcells;
struct refuser;
struct restore;
struct uploads;
struct watchdog;
struct workspace;

enum {
	SESSION_UNREPORTED_MAX = 4, /* of a language; then the oldest is freed */
	SESSION_ANSWERED_MAX = 4,   /* the same of those that session_report_again may need */
	SESSION_ASKS_MAX = 3,       /* of a cell */
	SESSION_ELICITS_MAX = 20,   /* questions to the user in a session's life */
};

struct session_language;

/* A caller that waits for an answer: with code of its own, or observing. */
struct call {
	struct list node; /* among lang->observers if it has no code */
	struct session_language *lang;
	struct execution *exec;
	call_done_fn *done;
	void *data;
	struct loop_timer wait;
	struct expect *expected; /* a text to wait for, or NULL */
	bool expected_seen;
	call_ask_fn *ask; /* or NULL */
	bool asking;
	bool wait_cut;
	bool again;       /* it may ask once more about a wait that was asked about */
	const char *note; /* goes into the answer; or NULL */
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
	struct call *call; /* the call that submitted it; NULL once answered or cancelled */
	struct queued_cell *queued; /* NULL once the cell has ended */
	struct cell *cell;          /* set once the cell has ended */
	struct runner *runner;      /* starts no other cell until the scan is done; else NULL */
	uint64_t number;
	uint64_t generation;  /* of the session when the code began; 0: it never began */
	uint64_t answered_at; /* as host->written, in the list `answered` */
	bool assumed;         /* as in exec_request */
	bool cancelled;
	unsigned int asks;   /* how often the user was asked for input */
	uint64_t asked_wait; /* number of the wait that the user was asked about last */
	bool *keeps;         /* which of the cell's changes are exported; NULL: not chosen yet */
	char *keep_left;     /* changes that are not exported, as in workspace/beside.h */
	size_t kept_to;      /* changes before this index are exported or left out */
	size_t kept_count;
	bool kept_owed;        /* failed exports of earlier cells were retried with it */
	bool saving;           /* its export goes on behind its answer */
	char *keep_problem;    /* the first problem */
	char *keep_renamed;    /* as in struct keep_result */
	uint64_t inspection;   /* number of the inspection of shared folders after it; 0: none */
	uint64_t upload;       /* number of its upload; 0: none */
	uint64_t upload_until; /* when it stops waiting for links */
};

/* A language that the session uses. */
struct session_language {
	struct session *session;
	struct runner *runner;
	struct list observers;
	struct list unreported; /* executions in EXEC_UNREPORTED, oldest first */
	struct list answered;   /* the same, of which an answer was written */
	struct cell last;       /* the cell that ended last: number, language, state, time */
};

/* A caller that waits for a list of files. */
struct listing {
	struct list node;
	void (*done)(void *data, const struct scan *scan);
	bool (*step)(void *data, const struct scan *scan); /* called in place of `done` */
	void *data;
};

struct session {
	const struct session_host *host;
	char *id;
	uint64_t generation;
	uint64_t first_cell; /* of this life */
	struct notices notices;
	char *ways_back;      /* a part of the first notice, or NULL */
	char *record_problem; /* why the earlier life's journal cannot be read, or NULL */
	struct session_limits limits;
	const struct runner_handlers *handlers; /* of its runners */
	struct restore *restore;                /* its cells run again; or NULL */
	struct session_values *values;
	char *restore_report; /* of the last replay that no call has answered; or NULL */
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct holder *holder;
	struct slot *slot;         /* prestarted, for a first cell that fits it; or NULL */
	struct watchdog *watchdog; /* of `sandbox` */
	struct proxy *proxy;       /* NULL: none yet, or no hosts */
	struct refuser *refuser;   /* while a replay may reach no host; or NULL */
	struct asking *asking;     /* NULL: its programs cannot ask for packages */
	uint64_t net_bytes;        /* bytes through the proxies of earlier sandboxes */
	struct scan *scan;
	struct keeper *keeper;
	struct uploads *uploads;     /* NULL without a storage */
	struct inspector *inspector; /* NULL unless code may write to a shared folder */
	struct journal *journal;
	struct session_language languages[LANGUAGES_MAX];
	size_t language_count;
	uint64_t next_cell;
	uint64_t asks;                        /* how often the user was asked for input */
	const struct language *last_language; /* NULL before the first code */
	uint64_t created_ms;
	uint64_t used_ms;

	struct list execs; /* executions that are not over, in the order of their last move */
	struct execution *keeping; /* the execution whose export is under way */
	struct {
		uint64_t bytes; /* of such exports that are not over */
		char **paths;   /* results; the export of those from `at` on has not begun */
		size_t count;
		size_t at;
		char *problem; /* the first one */
		struct loop_timer wait;
		bool running;   /* an export that no answer waits for is under way */
		bool announced; /* an answer said so: a notice must report its end */
	} behind;
	struct loop_timer link_wait;
	struct list listings;
	struct list walks; /* listings that have their scan and read it in steps */
	struct loop_defer walk;
	struct loop_timer renewal;   /* runs while listings wait for fresh links */
	struct list placed;          /* files that the server itself stored: no cell changed them */
	uint64_t background_scan_ms; /* when the scan in the background began; then its next time */
	struct loop_defer work;      /* starts the next scan */

	struct loop_timer notebook;   /* runs until the next copy is due */
	struct loop_timer report;     /* runs until the report is due */
	uint64_t notebook_ms;         /* when its last copy began; then how long it took */
	uint64_t notebook_put_off_ms; /* the due copy is put off for calls until then at most */

	void (*counted)(struct session *session, int count, void *data);
	void *counted_data; /* of session_count_children */
	int counts_awaited;
	int child_count;

	struct {
		struct quitting wait;
		char *why;        /* the session has ended, and why; else NULL */
		uint64_t running; /* the last cell that this stopped; 0: none */
		char *unread;     /* as in workspace/lasting.h */
		void (*done)(void *data);
		void *data;
		bool cut; /* one of them was stopped, or killed, while it ended */
	} quit;

	unsigned holds;
	bool begun;     /* a cell or a query of this life has begun */
	bool recorded;  /* its folder has a record (workspace/lasting.h) */
	bool resumed;   /* it goes on in the folder of an earlier life */
	bool verifies;  /* results of that life may lack a copy: its server was killed */
	bool renewed;   /* `sandbox` is not its first sandbox */
	bool displaced; /* it ends while its folder has the files of a replay (workspace/aside.h) */
	bool restore_failed;    /* restore_report reports a failure */
	bool background_scan;   /* session_scan_in_background is under way */
	bool scanning_for_cell; /* the scan under way is for an execution */
	bool notebook_copying;
	bool notebook_stale;  /* the journal has grown since */
	bool notebook_failed; /* a failure was logged */
	bool notebook_owed;   /* the last copy failed */
	bool unreported_due;  /* the next answer has what other sessions left unreported */
	bool report_stale;    /* the journal has grown since the report was drawn */
	bool report_due;      /* the next copy of the notebook draws it */
};

/* session.c */
/* Returns the state of a language, made at its first use. */
struct session_language *session_language_for(struct session *session,
					      const struct language *language);
struct session_language *session_language_of(struct session *session, const struct runner *runner);
/* The handlers of the session's runners, unless cells run again. */
extern const struct runner_handlers session_handlers;
/*
 * Ends all interpreters with their processes. The next ones start in a new sandbox, with the folder
 * that the session has then. No cell may run. The generation counts up if state was lost.
 */
void session_restart(struct session *session);
/* Puts hosts, and writing in shared folders, out of reach of the next sandbox (refuser.h). */
void session_hold_outside(struct session *session);
/*
 * Lets code reach them again. `done` is called once it can, from the loop; not after the session
 * ended. Returns false if there is nothing to wait for.
 */
bool session_allow_outside(struct session *session, void (*done)(void *data), void *data);
/* Has other handlers called for the session's runners, also for those that are made later. */
void session_handle_by(struct session *session, const struct runner_handlers *handlers);

/* Drops the slot, except for its folder, which the session uses. */
void session_drop_slot(struct session *session);
/* Returns the slot's sandbox for a session that ends without a cell. */
struct sandbox *session_unused_sandbox(struct session *session);

/* Reports that session_state() may differ now. */
void session_report_state(struct session *session);

/* session_ask.c */
/* Takes the requests of programs that ask for packages (runner/session_programs.h). */
void session_ask_new(struct session *session);

/* session_resume.c */
/* Records how it ended. Returns whether its folder lasts. */
bool session_record_end(struct session *session, const char *why);
/* Removes the record of a destroyed session: no server resumes it, even if this one is killed. */
void session_record_destruction(const struct session *session);
/* Notes that the session is used, in its record. The record is written anew for other limits. */
void session_record_use(struct session *session, bool limits_changed);
/* Takes the limits that the earlier life had lowered; they stay below those of this server. */
void session_resume_limits(struct session *session, const char *limits);
/* Opens the journal of the earlier life, or a new one if it cannot be read. */
void session_resume_journal(struct session *session);
/* Reports the cells that ran when the earlier life's server was killed. `lost_own` may be NULL. */
void session_report_lost(struct session *session, struct lostcells *lost_own);
/* Marks the earlier life's results without a copy as due, after the first scan. */
void session_find_missing(struct session *session);

/* session_restore.c */
/* Returns whether changes of files belong to cells that run again. */
bool session_restore_changes_files(const struct session *session);
/* Ends a replay of cells because the session ends: its files are put back at once. */
void session_restore_abandon(struct session *session);

/* session_notebook.c */
/* Makes the exporter of the session's results and its notebook. */
struct keeper *session_keeper_new(struct session *session);
/* Returns true if a notebook is exported. */
bool session_keeps_notebook(const struct session *session);
/* Copies notebook and report if they are stale; the copies outlive the session. */
void session_notebook_end(struct session *session);

/* session_exec.c */
/*
 * Moves an execution into its next state, behind all others that are in it: each state is a queue.
 * An execution in EXEC_UNREPORTED must be freed once an answer has reported it.
 */
void session_exec_set_state(struct execution *exec, enum exec_state next);
/*
 * Returns the execution that has been in `state` for the longest time. With `after`, returns the
 * one that follows it. Returns NULL when there is none.
 */
struct execution *session_exec_in_state(const struct session *session, enum exec_state state,
					const struct execution *after);
/* Ends an execution for which nothing is left to do: reports it to the host and answers callers. */
void session_exec_over(struct execution *exec);
/* Returns whether a runner runs a cell. `but` is not asked, and may be NULL. */
bool session_runs_cell(const struct session *session, const struct runner *but);
/* Returns whether code runs: a cell, or threads and timers that a cell has left. */
bool session_runs_code(const struct session *session);
/* Handles `ended` of struct runner_handlers. */
void session_on_ended(struct runner *runner, struct cell *cell_own, void *data);
/* Ends all executions that are not over, as not started if they did not run; `why` says so. */
void session_end_execs(struct session *session, const char *why);
/* Returns the oldest execution of a language that is not over; NULL when there is none. */
struct execution *session_first_exec(const struct session_language *lang);
/* Returns the number of the cell that ran last, whether or not its execution is over. */
uint64_t session_last_number(const struct session_language *lang);
/* Returns the execution of the same language that runs before `exec`; NULL when there is none. */
struct execution *session_exec_ahead(const struct execution *exec);
/* Ends an execution as not started, because `ahead` still runs. */
void session_exec_withdraw(struct execution *exec, const struct execution *ahead);
/*
 * Ends the next execution of a language as not started. Returns false if it runs already, or there
 * is none.
 */
bool session_exec_stop_queued(struct session_language *lang);
/* Interrupts or withdraws the code of a call that was cancelled. */
void session_exec_cancel(struct execution *exec);
void session_exec_free(struct execution *exec);

/* session_call.c */
struct call *session_call_new(struct session_language *lang, struct execution *exec,
			      call_done_fn *done, void *data);
/* Answers a call after `ms` at the latest; 0 means in the next turn of the loop. */
void session_call_wait(struct call *call, uint64_t ms);
/* Answers the callers that wait for this execution, which is over. */
void session_answer_waiters(struct session_language *lang, struct execution *exec);
/* Handle the events of these names in struct runner_handlers. */
void session_on_waits(struct runner *runner);
void session_on_resumed(struct runner *runner);
void session_on_unanswered(struct runner *runner);
void session_on_stuck(struct runner *runner, const char *how);
void session_on_overdue(struct runner *runner);
void session_on_wrote(struct runner *runner, const char *data, size_t len);
/* Answers the remaining calls and frees unreported executions, as the session ends. */
void session_language_release(struct session_language *lang);

/* session_elicit.c */
/*
 * Asks the user for the input that the cell waits for. Returns true if the user is asked; the call
 * may then be gone.
 */
bool session_call_ask(struct call *call, struct execution *exec);
/* Asks once more for a call that session_may_ask_again has marked. Returns as session_call_ask. */
bool session_call_ask_again(struct call *call);
/* Marks a call so that it may ask about this wait once more, if the wait lasts. */
void session_may_ask_again(struct call *call, const struct wait_name *wait);
/* Types a line to this wait. Returns false if the wait is over. */
bool session_answer_wait(struct session_language *lang, const struct wait_name *wait,
			 const char *line, size_t len);

/* session_files.c */
/* Starts a scan if an execution or a listing waits for one. */
void session_scan_next(struct session *session);
/* Calls session_scan_next in the next turn of the loop. */
void session_scan_soon(struct session *session);
/* Answers all listings without a list. */
void session_end_listings(struct session *session);
/* Scans for files that processes write while no cell runs, if a client wants to know. */
void session_scan_in_background(struct session *s);
/* Scans the files of a new session: later scans are compared with this one. */
void session_scan_first(struct session *session);
/*
 * Scans before processes are killed, as the session ends or cells run again: also for files that
 * were written since the last cell. Returns once that is done. The changes are marked as due, and
 * exported with later results, or at the session's end.
 */
void session_keep_last(struct session *session);

/* session_keep.c */
/*
 * Exports new files that no cell of this life made, and what is due, behind the answers. `changes`
 * is sorted.
 */
void session_keep_new(struct session *session, const struct change *changes, size_t count);
/* Exports the results of executions that wait for it. */
void session_keep_next(struct session *session);
/* Marks results of executions whose export has not begun as due. */
void session_owe_results(struct session *session);
/* Frees what session_keep.c holds for the session, which ends. */
void session_keep_end(struct session *session);
/* Exports what is due, when the executions are over and the session is about to end. */
void session_keep_now(struct session *session);
/*
 * Marks whole outputs of the earlier life without a copy as due. Readers get all that its killed
 * cells left.
 */
void session_keep_earlier_outputs(struct session *session);

/* session_inspection.c */
void session_inspection_new(struct session *session);
/* Notes that session code is about to run. */
void session_inspection_note_run(const struct session *session);
/*
 * Notes that an answer has the notices of inspections. Returns what ended sessions left unreported,
 * or NULL; the caller frees it.
 */
char *session_inspection_take(struct session *session);
/* Inspects shared folders, while code runs. */
void session_inspection_request(struct session *session);
/* Inspects shared folders for an execution whose code has just ended. */
void session_inspection_follow(struct execution *exec);
/*
 * Waits for the inspection of an execution. Returns false if it is over; else session_exec_kept is
 * called again later.
 */
bool session_inspection_wait(struct execution *exec);

/*
 * Detaches the inspector from the session, which gets no more reports. The caller owns the result,
 * which is NULL without an inspector.
 */
struct inspector *session_inspection_end(struct session *session);

/* session_uploads.c */
void session_uploads_new(struct session *session);
void session_uploads_limit(struct session *session);
/* Starts the upload of an execution's results, once its files were scanned. */
void session_upload(struct execution *exec);
/*
 * Renews expired links. Listings wait while session_uploads_hold returns true, and are scanned for
 * again then.
 */
void session_uploads_renew(struct session *session);
bool session_uploads_hold(const struct session *session);
/* Follows the export of an execution: ends it, unless it waits for an inspection or for links. */
void session_exec_kept(struct execution *exec);
/* Returns the folder to which its results are exported, or NULL if there are none. */
const char *session_exec_folder(const struct execution *exec);

/* session_events.c */
void session_report_event(struct session *session, const struct session_event *event);
/* Handle the events of these names in struct runner_handlers. */
void session_on_typed(struct runner *runner, const char *text, size_t len, bool hidden);
void session_on_late(struct runner *runner, const char *text, size_t len);
void session_on_lost(struct runner *runner, const char *why, bool reported);

#endif
