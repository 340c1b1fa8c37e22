/* SPDX-License-Identifier: MIT */
/* peer.h - the parts of peer-server: tools, prompts, resources, and calls that take a while. */
#ifndef PEER_PEER_H
#define PEER_PEER_H

#include "base/list.h"
#include "event/loop.h"
#include "json/make.h"
#include "mcp/client_request.h"
#include "mcp/server.h"

struct peer {
	struct loop *loop;
	struct mcp_server *server;
	struct list timers;
};

struct peer_timer;
/* `step` counts from 0; false ends the steps, and the call has been answered. */
typedef bool peer_step_fn(struct mcp_call *call, int step);

void peer_features(struct peer *peer, struct mcp_features *ret);
/* Runs `step` at once and then every 50 ms. A cancelled call ends by itself. */
void peer_steps(struct peer *peer, struct mcp_call *call, peer_step_fn *step);
/* Ends every call that is still between two steps. */
void peer_timers_stop(struct peer *peer);

extern const struct mcp_tool peer_tools[];
extern const size_t peer_tool_count;
extern const struct mcp_prompt peer_prompts[];
extern const size_t peer_prompt_count;
extern const struct mcp_resource_template peer_templates[];
extern const size_t peer_template_count;

void peer_resources_list(struct mcp_call *call, const char *cursor, void *context);
void peer_resources_read(struct mcp_call *call, const char *uri, void *context);
void peer_complete(struct mcp_call *call, json_t *ref, json_t *argument, void *context);
/* Tools that ask; in ask.c. */
void peer_ask_tool(struct mcp_call *call, json_t *arguments, void *context);

/* A text and the end of the call. */
void peer_finish_text(struct mcp_call *call, const char *text);
json_t *peer_png_block(void);

#endif
