/* SPDX-License-Identifier: MIT */
/*
 * session.h - a session: one folder, one sandbox, an interpreter a language.
 *
 * A call of exec ends exactly once: by its `done`, or by session_exec_cancel, after which nothing
 * is told.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/settings.h"
#include "runtime/language.h"
#include "session/cell.h"
#include "session/runner.h"

struct confinement;
struct exec;
struct home;
struct launcher;
struct sandbox;
struct loop;
struct scan;
struct session;

enum { SESSION_ID_MAX = 64 };

/* What the sessions of one server share. Borrowed by each. */
struct session_host {
	struct loop *loop;
	struct home *home;
	struct launcher *launcher;
	struct confinement *confinement; /* settled before the first session is made */
	const struct settings *settings;
	char *files_helper; /* path of ptycell-files */
	/* Ends the sandbox (taken, NULL when none was opened) and then removes the folder `name`
	 * of `home`, in the background.
	 */
	void (*retire)(void *owner, struct sandbox *sandbox_own, const char *name);
	void *owner;
};

/* What is told with a cell's end. Borrowed for the call of `done`. */
struct exec_result {
	struct session *session;
	const struct cell *cell;
	const char *notice;       /* new session, state lost: sentences of ours; or NULL */
	const char *saved;        /* folder where results were kept in this cell, or NULL */
	const char *keep_problem; /* why something was not kept, or NULL */
};

typedef void exec_done_fn(struct exec *exec, const struct exec_result *result, void *data);

/* 1-64 of A-Z a-z 0-9 . _ -, first a letter or digit: ERR_INVALID tells the rule. */
int session_id_check(const char *id, struct err *err) MUST_CHECK;

/* A new folder; no process yet. `notice` opens the first answer. */
struct session *session_new(const struct session_host *host, const char *id, uint64_t generation,
			    char *notice_own, struct err *err) MUST_CHECK;
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
};

/* `request` is borrowed for the call. `done` never runs before this returns. */
struct exec *session_exec(struct session *session, const struct exec_request *request,
			  exec_done_fn *done, void *data, struct err *err) MUST_CHECK;
/* Interrupts or withdraws it; the session and its state stay. */
void session_exec_cancel(struct exec *exec);

const char *session_id(const struct session *session);
uint64_t session_generation(const struct session *session);
/* "idle", "running", "starting". */
const char *session_state(const struct session *session);
const struct workspace *session_workspace(const struct session *session);
const struct confinement *session_confinement(const struct session *session);
const char *session_keep_folder(const struct session *session); /* NULL: nothing kept yet */
const struct session_limits *session_limits(const struct session *session);
/* For what comes after. ERR_INVALID for one that can no longer change. */
int session_set_limits(struct session *session, const struct session_limits *limits,
		       struct err *err) MUST_CHECK;
uint64_t session_age_ms(const struct session *session);
uint64_t session_idle_ms(const struct session *session);
/* Somebody used it now. */
void session_touch(struct session *session);
/* A cell runs, waits or is queued, an interpreter starts or ends, or files are being kept. */
bool session_busy(const struct session *session);
/* Runner `index`, NULL past the end: languages used so far. */
const struct runner *session_runner(const struct session *session, size_t index);
/* The notice that is due, taken: the caller frees it; NULL when there is none. */
char *session_take_notice(struct session *session);
/*
 * Asks how many child processes of its interpreters live. `done` comes from the loop, or at once
 * when no interpreter runs, and not after session_free. One question at a time.
 */
void session_count_children(struct session *session,
			    void (*done)(struct session *session, int count, void *data),
			    void *data);

/* The names in runner `index`, as runner_query_variables; NULL past the end. */
struct query *session_query_variables(struct session *session, size_t index, unsigned limit,
				      query_done_fn *done, void *data);

/*
 * The files now, after a scan that is done first; `done` comes from the loop or at once. The scan
 * is valid for the call, and NULL when the session ended first.
 */
void session_list_files(struct session *session, void (*done)(void *data, const struct scan *scan),
			void *data);
/* The server itself changed files: they are not the next cell's. */
void session_files_touched(struct session *session);
/* Forgets a pending session_list_files of this `data`. */
void session_list_files_cancel(struct session *session, void *data);

#endif
