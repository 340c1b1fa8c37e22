/* SPDX-License-Identifier: MIT */
/*
 * history.h - what becomes of a cell that is over: journal, audit file, notebook.
 *
 * None of them may cost an answer: trouble is logged, each kind once.
 */
#ifndef TOOLS_HISTORY_H
#define TOOLS_HISTORY_H

#include <jansson.h>

struct exec_result;
struct history;
struct session;
struct settings;

struct history *history_new(const struct settings *settings);
void history_free(struct history *history);
void history_add(struct history *history, const struct exec_result *result);

/* {cells, bytes, cells_without_outputs, cells_left_out}: for session_info. */
json_t *history_describe(const struct session *session);

#endif
