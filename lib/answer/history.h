/* SPDX-License-Identifier: MIT */
/*
 * history.h - what becomes of a cell when it is asked for, begins and is over: journal, audit file,
 * notebook.
 *
 * None of them may cost an answer: trouble is logged, each kind once.
 */
#ifndef ANSWER_HISTORY_H
#define ANSWER_HISTORY_H

#include <jansson.h>

#include <stddef.h>
#include <stdint.h>

struct auditor;
struct cell;
struct exec_asked;
struct exec_result;
struct history;
struct session;
struct settings;

struct history *history_new(const struct settings *settings);
void history_free(struct history *history);
struct auditor *history_auditor(const struct history *history);
/* A cell was asked for, began, and is over. */
void history_ask(struct history *history, struct session *session, const struct exec_asked *asked);
void history_begin(struct history *history, struct session *session, const struct cell *cell);
/* An answer showed some of it before its end. */
void history_show(struct history *history, struct session *session, const struct cell *cell);
void history_add(struct history *history, const struct exec_result *result);
/* What cell_json_make makes of a cell that is over: that of history_add, where it was the last one.
 */
json_t *history_record(const struct history *history, const struct exec_result *result);

/* A query of exec_sql that begins. */
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
	const json_t *answer; /* said.h, or NULL */
	const char *file;     /* the rows', where the answer has one */
	const char *text;     /* what was answered, clean */
	size_t text_len;
	const char *problem; /* why it failed, clean; or NULL */
};

void history_add_query(struct history *history, const struct history_query *query);

/* {cells, bytes, cells_without_outputs, cells_left_out}: for session_info. */
json_t *history_describe(const struct session *session);

#endif
