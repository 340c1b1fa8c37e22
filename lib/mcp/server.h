/* SPDX-License-Identifier: MIT */
/*
 * server.h - a Model Context Protocol server over bytes: all revisions on one pipe, by message.
 *
 * It does no I/O: bytes come in by mcp_server_feed, whole lines go out by the `write` callback;
 * timers come only from the loop given. It serves revisions 2024-11-05 to 2025-11-25 (with a
 * handshake) and 2026-07-28 (stateless). The server knows no tool: a `struct mcp_features` lends it
 * what it offers.
 *
 * A request for work becomes a `struct mcp_call`. It is answered exactly once, at once or later, by
 * mcp_call_finish, mcp_call_fail or mcp_call_refuse. A cancellation is reported to the owner, who
 * must still end the call with one of these; nothing is written then.
 *
 * JSON values are borrowed unless the parameter ends in _own, which is taken also on failure.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

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
	const char *input_schema;  /* JSON text; its root is an object schema */
	const char *output_schema; /* of structuredContent, which each answer then has; or NULL */
	const char *annotations;   /* JSON text, or NULL */
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

/* Everything is borrowed for the server's life. Parts that are absent are not advertised. */
struct mcp_features {
	const char *name;
	const char *title;
	const char *version;
	const char *instructions; /* or NULL */
	void *context;            /* passed to every callback */

	const struct mcp_tool *tools;
	size_t tool_count;
	bool tools_change; /* tools/list_changed may be sent */
	/* A client has the list and will soon call tools. May be NULL. */
	void (*tools_listed)(void *context);

	const struct mcp_prompt *prompts;
	size_t prompt_count;
	bool prompts_change;

	/* Resources are offered if resources_list is not NULL. `cursor` may be NULL. */
	void (*resources_list)(struct mcp_call *call, const char *cursor, void *context);
	/* Answers an unknown URI with mcp_call_refuse_unknown_resource. */
	void (*resources_read)(struct mcp_call *call, const char *uri, void *context);
	const struct mcp_resource_template *templates;
	size_t template_count;
	bool resources_change;
	bool resources_subscribe;

	/* completion/complete, or NULL. */
	void (*complete)(struct mcp_call *call, json_t *ref, json_t *argument, void *context);
	/*
	 * logging/setLevel and notifications/message, and in 2026-07-28 logLevel; else not
	 * advertised.
	 */
	bool logging;

	/* Removes secrets from every result, error and notification. May be NULL. */
	const struct redact *redact;
};

struct mcp_limits {
	size_t line_max; /* bytes of one line of input; a longer line is refused and skipped */
	size_t live_calls_max; /* further requests at the same time are refused */
	size_t listeners_max;  /* subscriptions/listen streams */
};

/* Makes a server. `write` gets whole lines with their \n. Both structs are borrowed. */
struct mcp_server *mcp_server_new(struct loop *loop, const struct mcp_features *features,
				  const struct mcp_limits *limits,
				  void (*write)(void *context, const char *line, size_t len));
/* Replaces `write` and its context. Must be called before anything is fed. */
void mcp_server_set_write(struct mcp_server *server,
			  void (*write)(void *context, const char *line, size_t len),
			  void *context);
/*
 * Sets a function that says whether the client takes our output. While it does not, progress is
 * dropped, because it would pile up and arrive together with the answer. Without a function,
 * progress is always sent.
 */
void mcp_server_set_flowing(struct mcp_server *server, bool (*flowing)(void *context));
/*
 * Returns whether the client takes log messages of this level that belong to no call: if it has set
 * a level by logging/setLevel or, in 2026-07-28, while a call of it names one. A client that does
 * not read its output takes none.
 */
bool mcp_server_wants_log(const struct mcp_server *server, const char *level);
/* Sends a log message of no call, if the client takes it. */
void mcp_server_log(struct mcp_server *server, const char *level, const char *logger,
		    const char *text);
/* Frees the server. All live calls must have ended. May be NULL. */
void mcp_server_free(struct mcp_server *server);
/* Takes input in any chunks. Callbacks of tools run from here. */
void mcp_server_feed(struct mcp_server *server, const char *data, size_t len);
/* Ends the input. An unfinished last line is taken as a line. */
void mcp_server_feed_end(struct mcp_server *server);
/* Returns the name that the client gave last, "" if unknown. Untrusted; borrowed until a feed. */
const char *mcp_server_client_name(const struct mcp_server *server);
/* Returns the number of requests not yet answered, without listen streams. */
size_t mcp_server_live_calls(const struct mcp_server *server);
/* Reports to every live call that it is cancelled. Nothing more is written for them. */
void mcp_server_cancel_all(struct mcp_server *server);
/* Ends listen streams properly before a shutdown. */
void mcp_server_close_listeners(struct mcp_server *server);
/*
 * Forgets the client, which has gone, as another may follow: its calls are cancelled, and
 * mcp_call_is_deserted is true meanwhile. The next client finds a new server: no handshake, no
 * subscription, no level of the log, no half line, no state behind a question. Must not be called
 * from mcp_server_feed.
 */
void mcp_server_forget_client(struct mcp_server *server);

/* Send change notifications, to older clients and to the listen streams that asked for them. */
void mcp_server_tools_changed(struct mcp_server *server);
void mcp_server_prompts_changed(struct mcp_server *server);
void mcp_server_resources_changed(struct mcp_server *server);
void mcp_server_resource_updated(struct mcp_server *server, const char *uri);
/*
 * Returns whether a client subscribed to this URI. If none did, mcp_server_resource_updated sends
 * nothing.
 */
bool mcp_server_resource_watched(const struct mcp_server *server, const char *uri);
/* Calls `each` for every URI with a subscription; for some more than once. */
void mcp_server_each_watched(const struct mcp_server *server,
			     void (*each)(void *data, const char *uri), void *data);

/* ---- a live request ---- */

/*
 * Sets a callback for the cancellation of the call. It is called at most once, from the loop or
 * from mcp_server_feed; the call must still be ended. It is not called if the call was cancelled
 * before.
 */
void mcp_call_on_cancel(struct mcp_call *call, void (*cancelled)(struct mcp_call *call, void *data),
			void *data);
/*
 * Returns whether a call is cancelled because its client has gone, while the server stays. Work
 * that a later call can report should go on.
 */
bool mcp_call_is_deserted(const struct mcp_call *call);
/* Returns the revision that this request is answered in. */
enum mcp_revision mcp_call_revision(const struct mcp_call *call);
/* Returns the tool's or prompt's name, "" for other requests. Borrowed from the call. */
const char *mcp_call_target(const struct mcp_call *call);
/* Return the client's name and version as it gave them, "" if unknown. Borrowed from the call. */
const char *mcp_call_client_name(const struct mcp_call *call);
const char *mcp_call_client_version(const struct mcp_call *call);
/*
 * Reports progress. `total` < 0 means unknown. A value that does not rise is raised a little. Does
 * nothing if the request has no progress token.
 */
void mcp_call_progress(struct mcp_call *call, double progress, double total, const char *message);
/* Sends a log message of this call (only with features.logging). */
void mcp_call_log(struct mcp_call *call, const char *level, json_t *data_own);

/*
 * Ends a tools/call with content blocks; structuredContent and _meta may be NULL. Blocks that the
 * client's revision does not know are converted to text.
 */
void mcp_call_finish(struct mcp_call *call, json_t *content_own, json_t *structured_own,
		     json_t *meta_own, bool is_error);
/* Ends a tools/call with isError and one text. */
void mcp_call_fail(struct mcp_call *call, const char *text);
/* Ends any other request with the members of its result. */
void mcp_call_finish_result(struct mcp_call *call, json_t *result_own);
/* Ends a completion/complete with an array of strings, of which 100 are sent. */
void mcp_call_finish_completion(struct mcp_call *call, json_t *values_own);
/* Ends any request with a JSON-RPC error. `data_own` may be NULL. */
void mcp_call_refuse(struct mcp_call *call, int code, const char *message, json_t *data_own);
/* Ends the request with this revision's code for an unknown resource. */
void mcp_call_refuse_unknown_resource(struct mcp_call *call, const char *uri);
/*
 * Ends the request as mcp_call_refuse_unknown_resource does, with a reason that says what exists
 * instead. `reason` may be NULL.
 */
void mcp_call_refuse_resource(struct mcp_call *call, const char *uri, const char *reason);

/* ---- content blocks: new references ---- */

json_t *mcp_text(const char *text, size_t len);
json_t *mcp_image(const void *data, size_t len, const char *mime_type);
json_t *mcp_audio(const void *data, size_t len, const char *mime_type);
/* Makes a link to a resource. `mime_type` may be NULL; `size` < 0 means unknown. */
json_t *mcp_resource_link(const char *uri, const char *name, const char *mime_type,
			  json_int_t size);
/* Make one item of a resources/read answer's `contents`. `mime_type` may be NULL. */
json_t *mcp_resource_text(const char *uri, const char *mime_type, const char *text, size_t len);
json_t *mcp_resource_blob(const char *uri, const char *mime_type, const void *data, size_t len);
/* Makes a content block of such an item. */
json_t *mcp_embedded(json_t *resource_own);

#endif
