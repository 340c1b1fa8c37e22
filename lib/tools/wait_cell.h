/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - an MCP call that waits for a session's answer: exec_code and interact.
 *
 * While it waits it tells its progress to who asked for it, and when the code waits for input it
 * has the user asked, where the client can do that. A legacy client is asked beside the call. A
 * modern one gets the question as the answer of its request, and sends it again with the user's:
 * that is what wait_cell_resume is for, before the request's arguments are looked at.
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

struct wait_cell *wait_cell_new(struct mcp_call *call, struct service *service);
/*
 * What the session made of the request; NULL: it refused, and `err` is the answer. The waiter
 * frees itself when the call is answered.
 */
void wait_cell_start(struct wait_cell *waiter, struct call *call, const struct err *err);
/* The `done` of the session's call, whose data is the waiter. */
void wait_cell_done(struct call *call, const struct exec_result *result, void *data);
/* True when the request brings the user's answer to a question of ours: then it is under way. */
bool wait_cell_resume(struct mcp_call *call, struct service *service, json_t *arguments);

#endif
