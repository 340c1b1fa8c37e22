/* SPDX-License-Identifier: MIT */
/*
 * wait_cell.h - an MCP call that waits for a session's answer: exec_code and interact.
 *
 * While the call waits, its progress is sent to the client. When the code waits for input, the user
 * is asked, where the client supports that. A client of an older revision is asked in a request
 * beside the call. A client of 2026-07-28 gets the question as the result of the call, and sends
 * the call again with the user's answer: wait_cell_resume handles it before its arguments are read.
 */
#ifndef TOOLS_WAIT_CELL_H
#define TOOLS_WAIT_CELL_H

#include <stdbool.h>

#include <jansson.h>

#include "base/err.h"

struct call;
struct exec_result;
struct mcp_call;
struct service;
struct wait_cell;

enum { WAIT_CELL_PROGRESS_MS = 2000 };

/* Makes a waiter, which frees itself when the call is answered. */
struct wait_cell *wait_cell_new(struct mcp_call *call, struct service *service);
/* Waits for the session's call. With NULL the session has refused: answers with `err`. */
void wait_cell_start(struct wait_cell *waiter, struct call *call, const struct err *err);
/* Answers with the result: the `done` of the session's call, whose data is the waiter. */
void wait_cell_done(struct call *call, const struct exec_result *result, void *data);
/*
 * Continues a call that was answered with a question. Returns whether the request is such a call,
 * which is then answered or waits.
 */
bool wait_cell_resume(struct mcp_call *call, struct service *service, json_t *arguments);

#endif
