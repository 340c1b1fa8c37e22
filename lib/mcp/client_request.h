/* SPDX-License-Identifier: MIT */
/*
 * ask.h - asking the user, or the client's model, in the middle of a call; for both eras.
 *
 * A tool (prompt, resource) that needs an answer is a function that can be run again: it looks
 * for the answer with mcp_call_answer and, when there is none, asks with mcp_call_ask and
 * returns. It is later run anew with the answers so far of that round. Modern clients get an
 * input_required result and send a new request, which may never come: nothing may stay locked
 * meanwhile. Legacy clients get requests of ours, and the same call goes on.
 *
 * What must survive between the runs goes into `state`; it stays in this process, behind a handle
 * that works once, for the same method and params, for ten minutes.
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

/* True when the client declared that it can be asked so. */
bool mcp_call_can_ask(const struct mcp_call *call, enum mcp_ask_kind kind);
/*
 * The client's result for `key`, borrowed; NULL when there is none, or none of the right shape.
 * A form's has `action` ("accept", "decline", "cancel") and, accepted, `content`.
 */
json_t *mcp_call_answer(const struct mcp_call *call, const char *key, enum mcp_ask_kind kind);
/* What the last mcp_call_ask of this chain kept, borrowed; NULL when nothing. */
json_t *mcp_call_state(const struct mcp_call *call);
/*
 * Asks and takes the call back: the owner must not touch it after this. `state_own` may be NULL.
 * A client that cannot be asked gets an error at once; legacy ones read `instead` in it, which
 * says what argument to give ("Call again with confirm: true.").
 */
void mcp_call_ask(struct mcp_call *call, const struct mcp_question *questions, size_t count,
		  json_t *state_own, const char *instead);

/* ---- beside a call ---- */

struct mcp_aside;
/*
 * Puts one question to a legacy client while the call stays its owner's, who answers it when it
 * likes. `answered` comes from feed, at most once, with the client's result (borrowed) or NULL when
 * it is none, an error or will never come; the aside is then over. NULL when the client cannot be
 * asked so: see mcp_call_can_ask; modern ones never can.
 */
struct mcp_aside *mcp_call_ask_aside(struct mcp_call *call, const struct mcp_question *question,
				     void (*answered)(void *data, json_t *result), void *data);
/* The answer is of no use any more: the client is told to forget the question. NULL is allowed. */
void mcp_aside_withdraw(struct mcp_aside *aside);

#endif
