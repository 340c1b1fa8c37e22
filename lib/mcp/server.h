/* SPDX-License-Identifier: MIT */
/*
 * server.h - a Model Context Protocol server over bytes: both eras on one pipe, per message.
 *
 * Sans-I/O: bytes in by mcp_server_feed, whole lines out by the `write` callback; timers only
 * through the loop given. Revisions 2024-11-05 to 2025-11-25 (with handshake) and 2026-07-28
 * (stateless). The server knows no tool: a `struct mcp_features` lends it what it offers.
 *
 * A request for work becomes a `struct mcp_call`, answered exactly once by mcp_call_finish,
 * mcp_call_fail or mcp_call_refuse, at once or later. A cancelled call is told to its owner,
 * who must still end it with one of these; nothing is then written.
 *
 * JSON values: borrowed unless the parameter ends in _own (taken also on failure).
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "event/loop.h"

struct mcp_server;
struct mcp_call;

enum mcp_revision {
	MCP_2024_11_05,
	MCP_2025_03_26,
	MCP_2025_06_18,
	MCP_2025_11_25,
	MCP_2026_07_28,
};

struct mcp_tool {
	const char *name;
	const char *title;
	const char *description;
	const char *input_schema; /* JSON text, root an object schema */
	const char *annotations;  /* JSON text, or NULL */
	void (*call)(struct mcp_call *call, json_t *arguments, void *context);
};

struct mcp_resource_template {
	const char *uri_template;
	const char *name;
	const char *description;
	const char *mime_type; /* or NULL */
};

struct mcp_prompt {
	const char *name;
	const char *description;
	const char *arguments; /* JSON text, an array, or NULL */
	void (*get)(struct mcp_call *call, json_t *arguments, void *context);
};

/* Everything is borrowed for the server's life. Absent parts are not advertised. */
struct mcp_features {
	const char *name;
	const char *title;
	const char *version;
	const char *instructions; /* or NULL */
	void *context;            /* handed to every callback */

	const struct mcp_tool *tools;
	size_t tool_count;
	bool tools_change; /* tools/list_changed may be sent */
	/* A client has the list, and will call some soon; or NULL. */
	void (*tools_listed)(void *context);

	const struct mcp_prompt *prompts;
	size_t prompt_count;
	bool prompts_change;

	/* Resources are there when list is not NULL. `cursor` may be NULL. */
	void (*resources_list)(struct mcp_call *call, const char *cursor, void *context);
	/* Unknown: mcp_call_refuse_unknown_resource. */
	void (*resources_read)(struct mcp_call *call, const char *uri, void *context);
	const struct mcp_resource_template *templates;
	size_t template_count;
	bool resources_change;
	bool resources_subscribe;

	/* completion/complete, or NULL. */
	void (*complete)(struct mcp_call *call, json_t *ref, json_t *argument, void *context);
	/* Legacy logging/setLevel and notifications/message, and modern logLevel; else not
	 * advertised. */
	bool logging;

	/* Takes secrets out of every result, error and notification; or NULL. */
	const struct redact *redact;
};

struct mcp_limits {
	size_t line_max;       /* bytes of one line taken in; longer ones are refused and skipped */
	size_t live_calls_max; /* more requests at once are refused */
	size_t listeners_max;  /* subscriptions/listen streams */
};

/* `write` gets whole lines with their \n. Both structs are borrowed. */
struct mcp_server *mcp_server_new(struct loop *loop, const struct mcp_features *features,
				  const struct mcp_limits *limits,
				  void (*write)(void *context, const char *line, size_t len));
/* Another sink than `write` with features->context; before anything is fed. */
void mcp_server_set_write(struct mcp_server *server,
			  void (*write)(void *context, const char *line, size_t len),
			  void *context);
/*
 * `flowing` says whether the client takes what is written. Without it, or while it does, progress
 * is told; else dropped, as it would only pile up and come in one piece with the answer.
 */
void mcp_server_set_flowing(struct mcp_server *server, bool (*flowing)(void *context));
/* Live calls must have ended. NULL is allowed. */
void mcp_server_free(struct mcp_server *server);
void mcp_server_feed(struct mcp_server *server, const char *data, size_t len);
/* End of input: an unfinished last line is taken as a line. */
void mcp_server_feed_end(struct mcp_server *server);
/* Requests taken in and not yet answered (listen streams do not count). */
size_t mcp_server_live_calls(const struct mcp_server *server);
/* Tells every live call that it is cancelled; nothing more is written for them. */
void mcp_server_cancel_all(struct mcp_server *server);
/* Ends listen streams properly before a shutdown. */
void mcp_server_close_listeners(struct mcp_server *server);

/* Change notices, to legacy clients and to the listen streams that asked for them. */
void mcp_server_tools_changed(struct mcp_server *server);
void mcp_server_prompts_changed(struct mcp_server *server);
void mcp_server_resources_changed(struct mcp_server *server);
void mcp_server_resource_updated(struct mcp_server *server, const char *uri);
/* Somebody subscribed to this uri: without, mcp_server_resource_updated says nothing. */
bool mcp_server_resource_watched(const struct mcp_server *server, const char *uri);
/* All that somebody subscribed to; one may come more than once. */
void mcp_server_each_watched(const struct mcp_server *server,
			     void (*each)(void *data, const char *uri), void *data);

/* ---- a live request ---- */

/*
 * `cancelled` is called at most once, from the loop or from feed; the call must still be ended.
 * Not called when the call was cancelled before.
 */
void mcp_call_on_cancel(struct mcp_call *call, void (*cancelled)(struct mcp_call *call, void *data),
			void *data);
/* The revision this request is answered in. */
enum mcp_revision mcp_call_revision(const struct mcp_call *call);
/* The tool's or prompt's name, "" for other requests. */
const char *mcp_call_target(const struct mcp_call *call);
/* The client's name and version as it said, "" when unknown. */
const char *mcp_call_client_name(const struct mcp_call *call);
const char *mcp_call_client_version(const struct mcp_call *call);
/* `total` < 0: unknown. A value that does not rise is raised a little. No-op without a token. */
void mcp_call_progress(struct mcp_call *call, double progress, double total, const char *message);
/* A log message (only with features.logging). */
void mcp_call_log(struct mcp_call *call, const char *level, json_t *data_own);

/*
 * Ends a tools/call: content blocks, structuredContent or NULL, _meta or NULL. Blocks that the
 * client's revision does not know are turned into text.
 */
void mcp_call_finish(struct mcp_call *call, json_t *content_own, json_t *structured_own,
		     json_t *meta_own, bool is_error);
/* Ends a tools/call with isError and one text. */
void mcp_call_fail(struct mcp_call *call, const char *text);
/* Ends any other request with its result's own members. */
void mcp_call_finish_result(struct mcp_call *call, json_t *result_own);
/* Ends a completion/complete with an array of strings; more than 100 are cut. */
void mcp_call_finish_completion(struct mcp_call *call, json_t *values_own);
/* Ends any request with a JSON-RPC error. `data_own` may be NULL. */
void mcp_call_refuse(struct mcp_call *call, int code, const char *message, json_t *data_own);
/* The right code of this revision for an unknown resource. */
void mcp_call_refuse_unknown_resource(struct mcp_call *call, const char *uri);
/* The same with a reason, which says what is there instead; NULL for none. */
void mcp_call_refuse_resource(struct mcp_call *call, const char *uri, const char *reason);

/* ---- content blocks: new references ---- */

json_t *mcp_text(const char *text, size_t len);
json_t *mcp_image(const void *data, size_t len, const char *mime_type);
json_t *mcp_audio(const void *data, size_t len, const char *mime_type);
/* `mime_type` may be NULL, `size` < 0: unknown. */
json_t *mcp_resource_link(const char *uri, const char *name, const char *mime_type,
			  json_int_t size);
/* One item of a resources/read answer's `contents`; `mime_type` may be NULL. */
json_t *mcp_resource_text(const char *uri, const char *mime_type, const char *text, size_t len);
json_t *mcp_resource_blob(const char *uri, const char *mime_type, const void *data, size_t len);
/* Such an item as a content block. */
json_t *mcp_embedded(json_t *resource_own);

#endif
