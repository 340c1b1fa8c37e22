/* SPDX-License-Identifier: MIT */
/*
 * session.h - a session: one folder, one sandbox, an interpreter a language.
 *
 * Code runs apart from whoever brought it: a call is answered exactly once, with the cell's end or
 * with what there is when its wait is over, and the cell runs on. What ended while nobody waited is
 * told with the next answer about its language.
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

struct call;
struct exec_asked;
struct exec_result;
struct journal;
struct proxy;
struct scan;
struct session;
struct session_event;

enum {
	SESSION_ID_MAX = 64,
	SESSION_LINKS_MAX = 12, /* that one answer tells */
};

enum session_event_kind {
	SESSION_MADE,
	SESSION_RESET, /* an interpreter's state was lost: the generation is the new one */
	SESSION_TYPED, /* input for a cell that runs */
	SESSION_ENDED, /* its cells are over */
};

/* All is borrowed for the call. */
struct session_event {
	enum session_event_kind kind;
	const struct language *language; /* of SESSION_RESET and SESSION_TYPED */
	const char *why;                 /* of SESSION_RESET and SESSION_ENDED, no full stop */
	uint64_t cell;                   /* and what follows: of SESSION_TYPED */
	const char *text;                /* may hold NUL */
	size_t len;
	bool hidden; /* whoever reads it does not show it */
};

/* A cell that is asked for. Borrowed for the call of cell_asked. */
struct exec_asked {
	uint64_t number;
	const struct language *language;
	const char *code; /* may hold NUL */
	size_t code_len;
	uint64_t timeout_ms;
};

/* An answer. Borrowed for the call of `done`. */
struct exec_result {
	struct session *session;
	const struct cell *cell;  /* ended, or running with what is new of it */
	bool ended;               /* for ever: the host is told of the same cell */
	uint64_t generation;      /* when its code began; 0: it did not. Told to the host alone */
	const char *note;         /* on how it goes on, after "it"; or NULL */
	const char *notice;       /* new session, state lost: sentences of ours; or NULL */
	const char *saved;        /* folder where results were kept in this cell, or NULL */
	const char *keep_problem; /* why something was not kept, or NULL */
	const char *keep_renamed; /* what was kept under another name, or NULL */
	const char *keep_left;    /* new files that are not kept, or NULL */
	/* The session's links that no answer had yet: the first of them, and how many there are. */
	const struct uploaded *links;
	size_t links_shown;
	size_t link_count;
	const char *upload_problem; /* why something was not uploaded, or NULL */
	const char *uploading;      /* "'output/a' is": on the way to the storage still, or NULL */
	/* Cells that ended before and were told to nobody, oldest first; without notices. */
	const struct exec_result *earlier;
	size_t earlier_count;
};

typedef void call_done_fn(struct call *call, const struct exec_result *result, void *data);

/* 1-64 of A-Z a-z 0-9 . _ -, first a letter or digit: ERR_INVALID tells the rule. */
int session_id_check(const char *id, struct err *err) MUST_CHECK;

/*
 * A new folder; no process yet, or one that waited for a session whose first cell is in language
 * `first` (NULL: nobody knows). `notice` opens the first answer.
 */
struct session *session_new(const struct session_host *host, const char *id, uint64_t generation,
			    char *notice_own, const struct language *first,
			    struct err *err) MUST_CHECK;
/*
 * Kills everything and hands the folder to a helper for removal. Running and queued execs end with
 * `done` first: their cell says why (`why`, a sentence of ours without a full stop).
 */
void session_free(struct session *session, const char *why);

struct exec_request {
	const struct language *language;
	const char *code; /* may hold NUL */
	size_t code_len;
	uint64_t timeout_ms; /* 0: the session's own */
	uint64_t wait_ms;    /* until it is answered at the latest */
};

/*
 * Runs code. `request` is borrowed for the call. `done` comes from the loop, once. Code whose turn
 * does not come in time, or that finds a cell whose own call was answered before its end, is
 * withdrawn: not_started.
 */
struct call *session_exec(struct session *session, const struct exec_request *request,
			  call_done_fn *done, void *data, struct err *err) MUST_CHECK;

/* A wait for input, named so that an answer can come later, from elsewhere. */
struct wait_name {
	const struct language *language;
	uint64_t generation;
	uint64_t cell;
	uint64_t number;
};

enum look_action {
	LOOK_WAIT,
	LOOK_ASK, /* waits, too; what was asked about `wait` may be asked once more */
	LOOK_TYPE,
	LOOK_ANSWER,
	LOOK_INTERRUPT,
	LOOK_TERMINATE,
	LOOK_KILL
};

struct look_request {
	const struct language *language; /* NULL: the one in use */
	enum look_action action;         /* done first */
	enum runner_typing typing;       /* what LOOK_TYPE types, and `text` */
	const char *text;
	size_t text_len;
	struct wait_name wait; /* LOOK_ANSWER types `text` as a line, but only to this one */
	const char *note;      /* NULL, or what is told instead of waiting; static, after "it" */
	const char *until;     /* NULL: none */
	size_t until_len;
	uint64_t wait_ms;
};

/*
 * Looks at what runs: answered when it ends, waits for input or has written `until`, and at the
 * latest when `wait_ms` are over; at once when nothing runs. ERR_NOT_FOUND when nothing ever ran,
 * or nothing runs to type to.
 */
struct call *session_look(struct session *session, const struct look_request *request,
			  call_done_fn *done, void *data, struct err *err) MUST_CHECK;
/*
 * Has `ask` called (from the loop) when the cell waits for input that somebody else may be asked
 * for, before the call is answered: no secret, no debugger, a prompt, three times a cell at most.
 * True: it does ask, and the call waits on, or was forgotten by `ask`. `wait` NULL: the wait that
 * was asked about is over.
 */
typedef bool call_ask_fn(struct call *call, const struct runner_wait *wait,
			 const struct wait_name *name, void *data);
void session_call_on_wait(struct call *call, call_ask_fn *ask);
struct session *session_of_call(const struct call *call);
/* An answer to what was asked: typed if that wait still lasts; else the call is answered now. */
void session_call_answer(struct call *call, const struct wait_name *wait, const char *line,
			 size_t len);
/* No answer will come: `why` goes on after "it"; static. */
void session_call_unanswered(struct call *call, const char *why);
/* Not answered any more, and its code goes on as if it had been. */
void session_call_forget(struct call *call);
/* What its cell wrote last, one line, for the caller to free; and for how long it has run. */
char *session_call_progress(const struct call *call, uint64_t *ret_ms);

/*
 * Nobody waits any more: code that the call brought is interrupted or withdrawn, and how it ended
 * is told with the next answer. A look just ends.
 */
void session_call_cancel(struct call *call);

const char *session_id(const struct session *session);
uint64_t session_generation(const struct session *session);
/* "idle", "running", "starting", "waiting_for_input": what matters most of its languages. */
const char *session_state(const struct session *session);
const struct workspace *session_workspace(const struct session *session);
const struct confinement *session_confinement(const struct session *session);
/* Those of the server: its own limits are session_limits. */
const struct settings *session_settings(const struct session *session);
/* Its way to hosts; NULL when it has none, or none yet. */
const struct proxy *session_proxy(const struct session *session);
const char *session_keep_folder(const struct session *session); /* NULL: nothing kept yet */
/* Results that could not be kept so far, as "'output/a' and 2 more"; the caller frees it. NULL:
 * none. */
char *session_unkept(const struct session *session);
/* Its results in the storage; NULL when none is set. */
const struct uploads *session_uploads(const struct session *session);
/* What was done in it; its owner fills it. */
struct journal *session_journal(const struct session *session);
/* The journal grew: the copy of its notebook that is kept for the person is made anew soon. */
void session_keep_notebook(struct session *session);
const struct session_limits *session_limits(const struct session *session);
/* For what comes after. ERR_INVALID for one that can no longer change. */
int session_set_limits(struct session *session, const struct session_limits *limits,
		       struct err *err) MUST_CHECK;
uint64_t session_age_ms(const struct session *session);
uint64_t session_idle_ms(const struct session *session);
/* Somebody used it now. */
void session_touch(struct session *session);
/* Something that is no cell goes on in it, and is over: it is busy meanwhile. */
void session_hold(struct session *session);
void session_release_hold(struct session *session);
/* The number of the next cell, for what is no cell of a language and is journaled as one. */
uint64_t session_take_number(struct session *session);
/* A cell runs, waits or is queued, an interpreter starts or ends, or files are being kept. */
bool session_busy(const struct session *session);
/* Runner `index`, NULL past the end: languages used so far. */
const struct runner *session_runner(const struct session *session, size_t index);
/* Of the code that came last; NULL before the first. */
const struct language *session_last_language(const struct session *session);
/* A sentence of ours that the next answer begins with. */
void session_add_notice(struct session *session, const char *text);
/* The notice that is due, taken: the caller frees it; NULL when there is none. */
char *session_take_notice(struct session *session);
/*
 * Asks how many child processes of its interpreters live. `done` comes from the loop, or at once
 * when no interpreter runs, and not after session_free. One question at a time.
 */
void session_count_children(struct session *session,
			    void (*done)(struct session *session, int count, void *data),
			    void *data);

/* As runner_installed, for the runner of `language`; nothing when there is none any more. */
void session_installed(struct session *session, const struct language *language, uint64_t cell,
		       bool ok, const char *text, const char *packages);
/* As runner_query_imported, for the runner of `language`; NULL when there is none. */
struct query *session_query_imported(struct session *session, const struct language *language,
				     const char *packages, query_done_fn *done, void *data);
/* The names in runner `index`, as runner_query_variables; NULL past the end. */
struct query *session_query_variables(struct session *session, size_t index, unsigned limit,
				      query_done_fn *done, void *data);

/*
 * The files now, after a scan that is done first; `done` comes from the loop or at once. The scan
 * is valid for the call, and NULL when the session ended first.
 */
void session_list_files(struct session *session, void (*done)(void *data, const struct scan *scan),
			void *data);
/*
 * The same for who goes through many files at length: `step` comes again, once in a turn of the
 * loop, while it returns true, and nothing is scanned meanwhile. Told NULL it has to end.
 */
void session_walk_files(struct session *session, bool (*step)(void *data, const struct scan *scan),
			void *data);
/* As session_list_files, but as the last scan saw them: `done` may come at once. */
void session_known_files(struct session *session, void (*done)(void *data, const struct scan *scan),
			 void *data);
/* The server itself put a file at `path` (relative to the folder): it is no cell's change. */
void session_file_placed(struct session *session, const char *path);
/*
 * Bytes that the server may still put into the folder. A part of limits.disk_max stays for cells:
 * they must be able to work and tidy up, and folders and caches are counted by the watchdog only.
 */
uint64_t session_disk_room(const struct session *session);
/* Forgets a pending session_list_files or session_walk_files of this `data`. */
void session_list_files_cancel(struct session *session, void *data);

#endif
