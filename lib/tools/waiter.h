/* SPDX-License-Identifier: MIT */
/* waiter.h - an MCP call that waits for a session's answer: exec_code and interact. */
#ifndef TOOLS_WAITER_H
#define TOOLS_WAITER_H

#include "base/err.h"

struct call;
struct exec_result;
struct mcp_call;
struct service;
struct waiter;

struct waiter *waiter_new(struct mcp_call *call, struct service *service);
/*
 * What the session made of the request; NULL: it refused, and `err` is the answer. The waiter
 * frees itself when the call is answered.
 */
void waiter_start(struct waiter *waiter, struct call *call, const struct err *err);
/* The `done` of the session's call, whose data is the waiter. */
void waiter_done(struct call *call, const struct exec_result *result, void *data);

#endif
