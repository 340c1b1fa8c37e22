/* SPDX-License-Identifier: MIT */
/*
 * session.h - a session: one folder, one sandbox, and an interpreter for each language.
 *
 * Code runs independently of the call that submitted it. A call is answered exactly once: with the
 * cell's end, or with what there is when its wait is over, and the cell runs on. If a cell ends
 * while no call waits, the next answer about its language reports it.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/settings.h"
#include "runner/cell.h"
#include "runner/host.h"
#include "runner/runner.h"
#include "runtime/language.h"
#include "transfer/uploads.h"
#include "workspace/lasting.h"

struct call;
struct exec_asked;
struct exec_result;
struct journal;
struct proxy;
struct scan;
struct session;
struct session_event;

enum {
	SESSION_ID_MAX = LASTING_ID_MAX,
	SESSION_LINKS_MAX = 12, /* in one answer */
};

enum session_event_kind {
	SESSION_MADE,
	SESSION_RESET,    /* an interpreter's state was lost; the generation is the new one */
	SESSION_TYPED,    /* a running cell was given input */
	SESSION_RESTORED, /* recorded cells ran again */
	SESSION_VALUES,   /* saved variables were brought back */
	SESSION_LATE,     /* there is output that no cell has */
	SESSION_ENDED,    /* its cells are over */
};

/* Everything is borrowed for the call. */
struct session_event {
	enum session_event_kind kind;
	const struct language *language; /* SESSION_RESET, SESSION_TYPED, SESSION_LATE */
	const char *why;                 /* SESSION_RESET, SESSION_ENDED; without a full stop */
	uint64_t cell;                   /* SESSION_TYPED */
	const char *text; /* SESSION_TYPED, SESSION_LATE: may hold NUL; SESSION_RESTORED,
			     SESSION_VALUES: a report */
	size_t len;
	bool hidden; /* SESSION_TYPED: the reader does not echo it */
	bool failed; /* SESSION_RESTORED, SESSION_VALUES: nothing came back, or not all that should
		      */
	bool partly; /* SESSION_RESTORED: it failed, and what the first cells left is back */
	uint64_t saved_cell; /* SESSION_VALUES: the variables are as they were after it */
};

/* A cell that was requested. Borrowed for the call of cell_asked. */
struct exec_asked {
	uint64_t number;
	const struct language *language;
	const char *code; /* may hold NUL */
	size_t code_len;
	uint64_t timeout_ms;
	const char *title; /* or NULL */
	bool begins;       /* in the next turn of the loop */
};

/* An answer. Borrowed for the call of `done`. */
struct exec_result {
	struct session *session;
	const struct cell *cell; /* ended, or running with its new output */
	bool ended;              /* for good; the host gets the same cell */
	bool assumed;            /* as in exec_request */
	uint64_t generation;     /* when its code began; 0: it never began. Set for the host only */
	const char *note;        /* how it continues, after "it"; or NULL */
	/* Sentences of the server: the session is new, state was lost. Or NULL. */
	const char *notice;
	const char *saved;        /* folder to which results of this cell were exported, or NULL */
	bool saving;              /* they are still being exported to it */
	const char *keep_problem; /* why something was not exported, or NULL */
	const char *keep_renamed; /* what was exported under another name, or NULL */
	const char *keep_left;    /* new files that are not exported, or NULL */
	/*
	 * The session's links that no earlier answer had: the first of them, and how many there
	 * are.
	 */
	const struct uploaded *links;
	size_t links_shown;
	size_t link_count;
	const char *upload_problem; /* why something was not uploaded, or NULL */
	const char *uploading;      /* "'output/a' is": still on its way to the storage; or NULL */
	/* Cells that ended earlier and were not reported, oldest first; without notices. */
	const struct exec_result *earlier;
	size_t earlier_count;
};

typedef void call_done_fn(struct call *call, const struct exec_result *result, void *data);

/* Checks an id: 1-64 of A-Z a-z 0-9 . _ -, first a letter or digit. ERR_INVALID states the rule. */
int session_id_check(const char *id, struct err *err) MUST_CHECK;

/*
 * Makes a session with a new folder. It has no process yet, or a prestarted sandbox for language
 * `first` (NULL: unknown). `notice_own`, which may be NULL, opens the first answer. Returns NULL
 * and sets *err.
 */
struct session *session_new(const struct session_host *host, const char *id, uint64_t generation,
			    char *notice_own, const struct language *first,
			    struct err *err) MUST_CHECK;
/* An ended session. */
struct session_earlier {
	struct workspace *workspace_own;
	uint64_t generation;
	uint64_t next_cell; /* 0: see the journal */
	const char *limits; /* as in struct lasting_record */
	bool exported;      /* as in struct lasting_record */
};
/*
 * Makes a session in the folder and with the journal of an ended one. Processes and variables are
 * new. Takes ownership of earlier->workspace_own.
 */
struct session *session_resume(const struct session_host *host, const char *id,
			       const struct session_earlier *earlier);
/* Adds a notice if the folder to which the earlier life exported its results is gone. */
void session_report_gone(struct session *session);

/*
 * Ends a session. Running and queued executions end with `done` first. Their cells say why: `why`
 * is a sentence without a full stop. Interpreters that run no cell end by themselves, within
 * `quit_ms`: functions that code registered for that run, and files are closed. The session exports
 * the results. Then all processes are killed and the folder is handed to a helper for removal,
 * unless the session can be resumed. Returns false if that has happened at once, and the session is
 * freed. Else `over` is called from the loop when it is freed.
 */
bool session_end(struct session *session, const char *why, uint64_t quit_ms,
		 void (*over)(void *data), void *data);
/* Gives the interpreters of a session that ends `quit_ms` from now at most. */
void session_hurry(struct session *session, uint64_t quit_ms);
/*
 * Ends and frees a session at once, also one that ends already, for which `why` is not used. Its
 * interpreters are killed, and `over` is not called.
 */
void session_free(struct session *session, const char *why);

struct exec_request {
	const struct language *language;
	bool assumed;     /* the model named no language */
	const char *code; /* may hold NUL */
	size_t code_len;
	const char *title;   /* of the cell, clean and without secrets; or NULL */
	uint64_t timeout_ms; /* 0: the session's default */
	uint64_t wait_ms;    /* until the call is answered at the latest */
	bool wait_cut;       /* the caller asked for a longer one */
};

/*
 * Submits code. `request` is borrowed for the call. `done` comes from the loop, once. Code is
 * withdrawn as not_started if its turn does not come in time, or if it would wait for a cell whose
 * own call was answered already. Returns NULL and sets *err.
 */
struct call *session_exec(struct session *session, const struct exec_request *request,
			  call_done_fn *done, void *data, struct err *err) MUST_CHECK;

/* Names a wait for input, so that an answer can arrive later from elsewhere. */
struct wait_name {
	const struct language *language;
	uint64_t generation;
	uint64_t cell;
	uint64_t number;
};

enum interact_action {
	INTERACT_WAIT,
	INTERACT_ASK, /* waits, too; `wait`, which was asked about, may be asked about once more */
	INTERACT_TYPE,
	INTERACT_ANSWER,
	INTERACT_INTERRUPT,
	INTERACT_TERMINATE,
	INTERACT_KILL
};

struct interact_request {
	const struct language *language; /* NULL: the one in use */
	enum interact_action action;     /* performed first */
	enum runner_typing typing;       /* how INTERACT_TYPE types `text` */
	const char *text;
	size_t text_len;
	struct wait_name wait; /* INTERACT_ANSWER types `text` as a line, to this wait only */
	const char *note;      /* returned instead of waiting; static, after "it"; or NULL */
	const char *until;     /* text to wait for; NULL: none */
	size_t until_len;
	uint64_t wait_ms;
	bool wait_cut; /* as in struct exec_request */
};

/*
 * Observes what runs. The call is answered when the cell ends, waits for input or has written
 * `until`, and after `wait_ms` at the latest; at once when nothing runs. Returns NULL and sets
 * *err: ERR_NOT_FOUND when nothing has run yet, or nothing runs that input could go to.
 */
struct call *session_interact(struct session *session, const struct interact_request *request,
			      call_done_fn *done, void *data, struct err *err) MUST_CHECK;
/*
 * Called from the loop, before the call is answered, when its cell waits for input that the user
 * may be asked for. That is no secret and no debugger, has a prompt, and happens at most three
 * times a cell. Returns true if the user is asked; the call then waits on, or `ask` has forgotten
 * it. With `wait` NULL, the wait that was asked about is over.
 */
typedef bool call_ask_fn(struct call *call, const struct runner_wait *wait,
			 const struct wait_name *name, void *data);
void session_call_on_wait(struct call *call, call_ask_fn *ask);
struct session *session_of_call(const struct call *call);
/* Types the user's answer if that wait still lasts; else the call is answered now. */
void session_call_answer(struct call *call, const struct wait_name *wait, const char *line,
			 size_t len);
/* Notes that the user will not answer. `why` continues after "it"; static. */
void session_call_unanswered(struct call *call, const char *why);
/* Frees a call without an answer. Its code runs on. */
void session_call_forget(struct call *call);
/*
 * Notes that the client has gone, and no call waits any more. The client has read the first `read`
 * bytes of the answers (host->written) for certain. The next answer reports the cells of later ones
 * again.
 */
void session_report_again(struct session *session, uint64_t read);
/*
 * Returns the last line that the call's cell wrote, and for how long the call has waited. The
 * caller frees the result.
 */
char *session_call_progress(const struct call *call, uint64_t *ret_ms);

/*
 * Frees a call whose caller no longer waits. Its code is interrupted or withdrawn; the next answer
 * reports how it ended. An observing call just ends.
 */
void session_call_cancel(struct call *call);

const char *session_id(const struct session *session);
uint64_t session_generation(const struct session *session);
/* Returns the number of this life's first cell. Cells with smaller numbers are of earlier lives. */
uint64_t session_first_cell(const struct session *session);
/* Returns the number of the newest cell; 0: none yet. */
uint64_t session_newest_cell(const struct session *session);
/*
 * Returns "waiting_for_input", "running", "starting" or "idle": the first that holds for any of its
 * languages.
 */
const char *session_state(const struct session *session);
const struct workspace *session_workspace(const struct session *session);
const struct confinement *session_confinement(const struct session *session);
/* Returns the settings of the server; the session's own limits are session_limits. */
const struct settings *session_settings(const struct session *session);
/* Returns the session's proxy; NULL when it has none, or none yet. */
const struct proxy *session_proxy(const struct session *session);
/* Returns the folder to which the notebook is about to be copied, or NULL. */
const char *session_notebook_folder(const struct session *session);
const char *session_keep_folder(const struct session *session); /* NULL: nothing was exported yet */
/* Returns the folder to which results are being exported now, or NULL. */
const char *session_saving_folder(const struct session *session);
/*
 * Returns the results that could not be exported so far, as "'output/a' and 2 more". The caller
 * frees the result. Returns NULL when there are none.
 */
char *session_unkept(const struct session *session);
/* Returns the session's uploads; NULL when no storage is set. */
const struct uploads *session_uploads(const struct session *session);
/* Returns the session's journal, which its owner fills. */
struct journal *session_journal(const struct session *session);
/* Records whose folder it is, at its first use: from then on the session can be resumed. */
void session_record(struct session *session);
/*
 * Appends the raw output of runner `index` that no answer has shown: to `shown` without secrets,
 * and to `withheld` what follows and may begin one.
 */
void session_read_output(struct session *session, size_t index, struct buf *shown,
			 struct buf *withheld);
/*
 * Types into the terminal of a cell that runs, first of one that waits for input. Returns its
 * number; returns 0 and sets *err: ERR_NOT_FOUND when no cell runs, else as runner_type.
 */
uint64_t session_type(struct session *session, enum runner_typing kind, const char *text,
		      size_t len, struct err *err) MUST_CHECK;
/* Returns whether the session can be resumed once it has ended, unless it is destroyed. */
bool session_lasts(const struct session *session);
/* Returns whether a session that ends can be resumed: one that was destroyed cannot. */
bool session_goes_on(const struct session *session);
/* Interrupts every cell that runs. Returns how many there are. */
size_t session_interrupt_all(const struct session *session);
/* Returns why the journal of the session's earlier life cannot be read, or NULL. */
const char *session_record_problem(const struct session *session);
/* Has the exported copy of the notebook renewed soon, because the journal has grown. */
void session_keep_notebook(struct session *session);
/*
 * Returns how many bytes the original of the next import may have (workspace/original.h). All of a
 * session have at most half of PTYCELL_KEEP_MAX. It is 0 where no second run can need them.
 */
uint64_t session_original_room(const struct session *session);
/*
 * Exports the originals that have no copy yet, for a second run of the notebook, if a notebook is
 * exported. Originals that come before the first cell of a life wait for it.
 */
void session_keep_inputs(struct session *session);
/* Reports that the import `path` has no original, with the reason. */
void session_miss_original(struct session *session, const char *path, const char *why);
/*
 * Exports the whole output of a cell that the notebook has in part, if a notebook is exported and
 * the quota has room. Adds a notice if it has none. Returns the path beside the notebook, which the
 * caller frees, or NULL.
 */
char *session_keep_output(struct session *session, uint64_t number, const char *language);
/* Exports the inputs that waited, because a cell begins. */
void session_keep_first_inputs(struct session *session);
const struct session_limits *session_limits(const struct session *session);
/*
 * Sets the limits of cells to come. Returns -1 and sets ERR_INVALID for a limit that can no longer
 * change.
 */
int session_set_limits(struct session *session, const struct session_limits *limits,
		       struct err *err) MUST_CHECK;
uint64_t session_age_ms(const struct session *session);
uint64_t session_idle_ms(const struct session *session);
/* Returns the memory of the session's processes as measured last; 0: not yet. */
uint64_t session_memory(const struct session *session);
/* Notes that the session is used now. */
void session_touch(struct session *session);
/* Keeps the session busy while something other than a cell is under way, and ends that. */
void session_hold(struct session *session);
void session_release_hold(struct session *session);
/* Takes the next cell number, for an entry of the journal that is no cell of a language. */
uint64_t session_take_number(struct session *session);
/*
 * Returns whether a cell or the export of its results is not over, an interpreter starts or ends,
 * or something holds the session (session_hold).
 */
bool session_busy(const struct session *session);
/* Returns session_busy, but does not count an interpreter that starts and has no cell. */
bool session_has_work(const struct session *session);
/* Returns whether it is busy only with cells that run on after their deadline. */
bool session_overdue(const struct session *session);
/* Returns runner `index` of the languages used so far; NULL past the end. */
const struct runner *session_runner(const struct session *session, size_t index);
/* Returns the language of the latest code; NULL before the first. */
const struct language *session_last_language(const struct session *session);
/* Adds a sentence that the next answer begins with. */
void session_add_notice(struct session *session, const char *text);
/*
 * Takes the notice that is due, with what ended sessions found in shares and no answer said. The
 * caller frees it. Returns NULL when there is none.
 */
char *session_take_notice(struct session *session);
/* Has the next answer report what an ended session of this server left unreported. */
void session_expect_unreported(struct session *session);
/* Notes the part of a notice that a restore makes untrue, if no answer has taken it by then. */
void session_set_ways_back(struct session *session, char *text_own);
/* Removes that part, because the variables are back. */
void session_forget_ways_back(struct session *session);
/* Adds a notice that can be withdrawn. `subject` must not be 0. */
void session_add_notice_about(struct session *session, uint64_t subject, const char *text);
/* Removes the notice about `subject`, unless an answer has taken it. */
void session_withdraw_notice(struct session *session, uint64_t subject);
/*
 * Counts the live child processes of the session's interpreters, but for those whose cell runs on
 * after its deadline. `done` comes from the loop, or at once when no interpreter is asked, and not
 * after session_free. A later call takes the place of a count that is under way, whose `done` does
 * not come.
 */
void session_count_children(struct session *session,
			    void (*done)(struct session *session, int count, void *data),
			    void *data);

/* Calls runner_installed for the runner of `language`, if there still is one. */
void session_installed(struct session *session, const struct language *language, uint64_t cell,
		       bool ok, const char *text, const char *packages);
/* Calls runner_query_imported for the runner of `language`. Returns NULL when there is none. */
struct runner_query *session_query_imported(struct session *session,
					    const struct language *language, const char *packages,
					    query_done_fn *done, void *data);
/* Calls runner_query_variables for runner `index`. Returns NULL past the end. */
struct runner_query *session_query_variables(struct session *session, size_t index, unsigned limit,
					     query_done_fn *done, void *data);

/*
 * Lists the files after a new scan. `done` comes from the loop or at once. The scan is borrowed for
 * the call; it is NULL if the session ended first.
 */
void session_list_files(struct session *session, void (*done)(void *data, const struct scan *scan),
			void *data);
/*
 * Lists the files for a caller that needs more than one turn of the loop. `step` is called once a
 * turn while it returns true; no scan runs meanwhile. With NULL it must end.
 */
void session_walk_files(struct session *session, bool (*step)(void *data, const struct scan *scan),
			void *data);
/* Lists the files as the last scan saw them: `done` may come at once. */
void session_known_files(struct session *session, void (*done)(void *data, const struct scan *scan),
			 void *data);
/*
 * Notes that the server itself stored a file at `path`, relative to the folder: no cell changed it.
 */
void session_file_placed(struct session *session, const char *path);
/*
 * Returns how many bytes the server may still store in the folder. A part of limits.disk_max stays
 * reserved for cells, which must be able to work and tidy up. Only the watchdog counts folders and
 * caches.
 */
uint64_t session_disk_room(const struct session *session);
/* Forgets a pending session_list_files or session_walk_files of this `data`. */
void session_list_files_cancel(struct session *session, void *data);

#endif
