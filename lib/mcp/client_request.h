/* SPDX-License-Identifier: MIT */
/*
 * client_request.h - asks the user, or the client's model, during a call; for both revisions.
 *
 * A tool (prompt, resource) that needs an answer is a function that can be run again. It looks for
 * the answer with mcp_call_answer; if there is none, it asks with mcp_call_ask and returns. It is
 * run again later with the answers of that round. Clients of 2026-07-28 get an input_required
 * result and send a new request, which may never come: nothing may stay locked meanwhile. Older
 * clients get requests of ours, and the same call continues.
 *
 * State that must survive between the runs goes into `state`. It stays in this process, behind a
 * handle that works once, for the same method and params, for ten minutes.
 */
#ifndef MCP_CLIENT_REQUEST_H
#define MCP_CLIENT_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_call;

enum mcp_ask_kind { MCP_ASK_FORM, MCP_ASK_URL, MCP_ASK_MODEL, MCP_ASK_ROOTS };

struct mcp_question {
	const char *key; /* names the answer; unique in its round */
	enum mcp_ask_kind kind;
	json_t *params; /* of elicitation/create or sampling/createMessage; NULL for roots */
};

/* Returns whether the client declared that it can be asked so. */
bool mcp_call_can_ask(const struct mcp_call *call, enum mcp_ask_kind kind);
/*
 * Returns the client's result for `key`; NULL if there is none, or none of the right shape. A
 * form's result has `action` ("accept", "decline", "cancel") and, if accepted, `content`. Borrowed
 * from the call.
 */
json_t *mcp_call_answer(const struct mcp_call *call, const char *key, enum mcp_ask_kind kind);
/*
 * Returns the state that the last mcp_call_ask of this chain stored; NULL if none. Borrowed from
 * the call.
 */
json_t *mcp_call_state(const struct mcp_call *call);
/*
 * Asks the questions. The owner must not touch the call after this. Takes ownership of `state_own`,
 * which may be NULL. A client that cannot be asked gets an error at once. For older clients it
 * contains `instead`, which says which argument to give ("Call again with confirm: true.").
 */
void mcp_call_ask(struct mcp_call *call, const struct mcp_question *questions, size_t count,
		  json_t *state_own, const char *instead);

/* ---- side requests ---- */

struct mcp_side_request;
/*
 * Asks an older client one question while the owner keeps the call and answers it at any time.
 * `answered` is called from mcp_server_feed, at most once. It gets the client's result (borrowed),
 * or NULL if this is an error, malformed or will never come; the side request is then over. Returns
 * NULL if the client cannot be asked so: see mcp_call_can_ask; clients of 2026-07-28 never can.
 */
struct mcp_side_request *mcp_call_ask_side_request(struct mcp_call *call,
						   const struct mcp_question *question,
						   void (*answered)(void *data, json_t *result),
						   void *data);
/* Withdraws the question and cancels it at the client. May be NULL. */
void mcp_side_request_withdraw(struct mcp_side_request *side_request);

#endif
