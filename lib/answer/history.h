/* SPDX-License-Identifier: MIT */
/*
 * history.h - records a cell when it is requested, begins and ends: in the journal, the audit file
 * and the notebook.
 *
 * A failure to record must not cost an answer: it is logged, once for each kind.
 */
#ifndef ANSWER_HISTORY_H
#define ANSWER_HISTORY_H

#include <jansson.h>

#include <stddef.h>
#include <stdint.h>

struct audit_log;
struct cell;
struct exec_asked;
struct exec_result;
struct history;
struct session;
struct session_event;
struct settings;

/* Makes the history with its audit log. */
struct history *history_new(const struct settings *settings);
/* Frees it with its audit log. */
void history_free(struct history *history);
/* Returns the audit log; borrowed. */
struct audit_log *history_audit_log(const struct history *history);
/* Records a requested cell, with its code. */
void history_ask(struct history *history, struct session *session, const struct exec_asked *asked);
/* Records that a cell's code goes to its interpreter. */
void history_begin(struct history *history, struct session *session, const struct cell *cell);
/* Records the output that an answer shows before the cell's end, and for what input it waits. */
void history_show(struct history *history, struct session *session, const struct cell *cell);
/* Records typed input, and output that no cell has. Other events are not for the journal. */
void history_event(struct history *history, struct session *session,
		   const struct session_event *event);
/* Records a cell that is over. */
void history_add(struct history *history, const struct exec_result *result);
/* Returns cell_json_make of a cell that is over, without making it twice. New reference. */
json_t *history_record(const struct history *history, const struct exec_result *result);

/* Records the start of a query of exec_sql. */
void history_begin_query(struct history *history, struct session *session, uint64_t number,
			 const char *sql, size_t sql_len);
/* A query that is over. */
struct history_query {
	struct session *session; /* NULL: it has ended */
	const char *session_id;
	uint64_t number; /* among the session's cells */
	const char *database;
	const char *sql;
	size_t sql_len;
	const json_t *params; /* or NULL */
	const char *state;    /* static: "done", "raised", "interrupted", "timed_out" */
	uint64_t ms;
	const json_t *answer; /* as query/reply.h; or NULL */
	const char *file;     /* of the rows, where the answer has one */
	const char *text;     /* of the answer, clean */
	size_t text_len;
	const char *problem; /* why it failed, clean; or NULL */
};

/* Records a query that is over. */
void history_add_query(struct history *history, const struct history_query *query);

/*
 * Returns {record, cells, restorable_cells, restorable_seconds, bytes, cells_without_outputs,
 * cells_left_out} for session_info, as a new reference.
 */
json_t *history_describe(const struct session *session);

#endif
