/* SPDX-License-Identifier: MIT */
/*
 * restore_internal.h - shared by the parts of restore.h.
 *
 *   - session_restore_begin.c: begins a replay
 *   - session_restore.c: ends it, and answers its callers
 *   - session_rerun.c: runs one cell after the other
 *   - session_values.c: brings saved variables back, as one cell without files
 */
#ifndef SESSION_RESTORE_INTERNAL_H
#define SESSION_RESTORE_INTERNAL_H

#include "journal/journal.h"
#include "journal/rerun.h"
#include "session/restore.h"
#include "session/restore_report.h"
#include "session/restore_scratch.h"
#include "session/session_internal.h"
#include "workspace/aside.h"

enum restore_state {
	RESTORE_SAVING,   /* the variables of before */
	RESTORE_QUITTING, /* the interpreters of before */
	RESTORE_LOOKING,  /* into /tmp and /dev/shm of before */
	RESTORE_STEPPING,
	RESTORE_BRINGING,
	RESTORE_RUNNING,
	RESTORE_PUTTING_BACK,
	RESTORE_SCANNING,
	RESTORE_LOST, /* the session ends: its files cannot be put back in their place */
	RESTORE_ABANDONED,
};

struct restore {
	struct session *session;
	enum restore_state state;
	bool stopping;
	bool values;  /* saved variables are brought back; no cell runs again */
	bool failed;  /* with `text` */
	bool outside; /* cells may change what is outside the session */
	bool open;    /* the current cell is one of those to run, and is not done */
	struct runner_handlers handlers;
	struct loop_defer step;
	struct loop_defer type;
	size_t at; /* index of the next cell in the journal */
	size_t end;
	size_t total; /* cells to run */
	size_t done;
	struct journal_line line; /* the current cell */
	struct rerun_cell cell;
	uint64_t lost_at; /* the first cell that began without state then, since one ran; or 0 */
	struct runner *runner; /* of the current cell */
	struct queued_cell *queued;
	size_t typed; /* texts that it got */
	uint64_t since_ms;
	uint64_t cell_since_ms;
	uint64_t cell_over_ms;     /* when the last cell ended */
	struct loop_timer reports; /* waits for those of the proxy */
	struct loop_timer save_late;
	struct quitting quitting;
	bool had_interpreters;        /* some were asked to end by themselves */
	struct runner_query *closing; /* closes what writes files by name; or NULL */
	size_t close_asked;           /* languages that were asked to close it */
	struct aside_job *job;
	struct removal *removal; /* of the spent folder; or NULL */
	struct restore_report report;
	struct restore_scratch scratch; /* files of /tmp and /dev/shm before */
	char *lost;                     /* in RESTORE_LOST: why */
	char *text;                     /* the report on saved variables; or NULL: see `report` */
	struct list calls;
};

/* session_restore_begin.c */
/* Ends a replay that was stopped while variables were saved. */
void session_restore_give_up(struct restore *restore);

/* session_restore.c */
/* Returns whether the cell runs again: it ran to its end, and is no query. */
bool session_restore_runs(const struct journal_line *line);
/* Returns a request for ptycell-files. */
struct aside_spec session_restore_spec(struct restore *restore,
				       void (*done)(void *data, const struct aside_result *result));
/* Puts the files back, which ends the replay. */
void session_restore_put_back(struct restore *restore);

/* Makes a restore that session_restore_enter begins. */
struct restore *session_restore_new(struct session *session);
/* Makes it the replay of its session. */
void session_restore_enter(struct restore *restore);
/* Frees a restore that could not begin. */
void session_restore_leave(struct restore *restore);
/* Returns -1 and sets *err if something is under way in the session. */
int session_restore_check_idle(const struct session *session, struct err *err) MUST_CHECK;
/* Ends a replay, and answers its callers. */
void session_restore_finish(struct restore *restore);

/* session_values.c */
/* Ends a restore of saved variables in the next turn of the loop: it was withdrawn before it ran.
 */
void session_values_withdrawn(struct restore *restore);

/* session_rerun.c */
/* Notes the end of a cell for the limits of the session. */
void session_rerun_note_end(struct session *session, struct runner *runner, struct cell *cell);
/* Returns how the cell failed, as "raised ValueError: x". The caller frees it. */
char *session_rerun_describe_failure(const struct cell *cell);
/* Sets the handlers that runners have meanwhile. */
void session_rerun_set_handlers(struct restore *restore);
/* Goes on with the next cell, in the next turn of the loop. */
void session_rerun_next(struct restore *restore);
/* Stops the replay. The first reason counts, as in struct restore_report. */
void session_rerun_stop_at(struct restore *restore, char *where_own);

#endif
