/* SPDX-License-Identifier: MIT */
/*
 * wait_restore.h - an MCP call that waits while a session's cells run again (session/restore.h), or
 * its saved variables are brought back (session/session_values.h).
 *
 * It reports progress: how many cells are done. A client that cancels it stops the replay. After
 * `wait_ms` it is answered, and the replay goes on.
 */
#ifndef TOOLS_WAIT_RESTORE_H
#define TOOLS_WAIT_RESTORE_H

#include <stdint.h>

struct err;
struct mcp_call;
struct service;
struct session;

/* Waits for the replay that runs in the session, and ends the call. */
void wait_restore_start(struct mcp_call *call, struct service *service, struct session *session,
			uint64_t wait_ms);
/* Is session_restore_start, session_restore_start_outside or session_values_restore. */
typedef int restore_begin_fn(struct session *session, struct err *err);
/*
 * Calls `begin`, waits and ends the call. If a replay runs already, it only waits for that. If one
 * ended when no call waited, it ends the call with that report.
 */
void wait_restore_begin(struct mcp_call *call, struct service *service, struct session *session,
			restore_begin_fn *begin, uint64_t wait_ms);

#endif
