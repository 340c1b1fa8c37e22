/* SPDX-License-Identifier: MIT */
/*
 * mcp_internal.h - shared by the files of this layer.
 *
 * One request of any method is one `struct mcp_call`, from dispatch until its answer. Rule ids such
 * as ER-6 are listed in test/data/mcp/README.md.
 */
#ifndef MCP_MCP_INTERNAL_H
#define MCP_MCP_INTERNAL_H

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "json/make.h"
#include "mcp/client_request.h"
#include "mcp/server.h"
#include "rpc/framing.h"
#include "rpc/message.h"

#define META_PREFIX "io.modelcontextprotocol/"
#define MODERN_VERSION "2026-07-28"

enum {
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
	MCP_UNKNOWN_RESOURCE = -32002, /* before 2026-07-28 only */
};

/* The strictest host (Claude Desktop) takes lines of 1 MiB; ours stay below, with their \n. */
enum { MCP_LINE_MAX = 999999 };
enum { MCP_BATCH_MAX = 50, MCP_URIS_MAX = 1024 /* of one subscriptions/listen stream */ };

enum mcp_level {
	MCP_LEVEL_DEBUG,
	MCP_LEVEL_INFO,
	MCP_LEVEL_NOTICE,
	MCP_LEVEL_WARNING,
	MCP_LEVEL_ERROR,
	MCP_LEVEL_CRITICAL,
	MCP_LEVEL_ALERT,
	MCP_LEVEL_EMERGENCY,
	MCP_LEVEL_OFF, /* above all of them */
};

/* The revision of a request and its sender's capabilities. Values are borrowed. */
struct mcp_sender {
	enum mcp_revision revision;
	json_t *capabilities;     /* NULL if there are none */
	json_t *client_info;      /* NULL if the client sent none */
	enum mcp_level log_level; /* lowest level to send */
};

/* The reason for refusing a request. */
struct mcp_refusal {
	int code;
	char message[192];
	json_t *data; /* owned, or NULL */
};

/* The answers to one array, collected until they are complete (RP-7). */
struct mcp_batch {
	struct buf answers;
	size_t pending; /* unanswered requests, plus one while the array is read */
	size_t unread;  /* messages still to be read */
};

struct mcp_listen; /* subscription.c */
struct mcp_asking; /* client_request.c */

enum mcp_trait {
	MCP_LEGACY = 1,
	MCP_MODERN = 2,
	MCP_BOTH = MCP_LEGACY | MCP_MODERN,
	MCP_COUNTED = 4,   /* counts for live_calls_max */
	MCP_CACHEABLE = 8, /* its result in 2026-07-28 has ttlMs and cacheScope (MR-2) */
	MCP_ASKS = 16,     /* may answer input_required */
};

struct mcp_method {
	const char *name;
	unsigned traits;                                      /* of enum mcp_trait */
	bool (*offered)(const struct mcp_features *features); /* NULL: always */
	/* Answers now or keeps the call. Runs again after an older client answered a question. */
	void (*handle)(struct mcp_call *call);
};

struct mcp_call {
	struct mcp_server *server;
	struct list node; /* in server->calls, or in its listeners */
	const struct mcp_method *method;
	json_t *message; /* owned; the next three are part of it */
	json_t *id;
	json_t *params;           /* an object, or NULL */
	json_t *progress_token;   /* or NULL */
	struct mcp_sender sender; /* owned values: a later handshake may replace the session's */
	double progress;
	struct mcp_batch *batch; /* or NULL */
	bool cancelled;
	void (*on_cancel)(struct mcp_call *call, void *data);
	void *on_cancel_data;
	json_t *no_arguments;      /* owned; used if there are no arguments */
	json_t *answers;           /* owned: the client's results by key, or NULL */
	json_t *state;             /* owned: state that the tool stored while it asked, or NULL */
	struct mcp_asking *asking; /* waiting for an older client's answers */
	struct mcp_listen *listen;
};

struct mcp_legacy {
	bool handshake;   /* initialize was answered */
	bool initialized; /* the client sent notifications/initialized */
	enum mcp_revision revision;
	json_t *capabilities;
	json_t *client_info;
	enum mcp_level log_level;
	bool log_asked;     /* the client has set log_level */
	json_t *subscribed; /* an object used as a set of URIs */
};

struct mcp_server {
	struct loop *loop;
	const struct mcp_features *features;
	const struct mcp_limits *limits;
	void (*write)(void *context, const char *line, size_t len);
	void *write_context;
	bool (*flowing)(void *context); /* for `write`; NULL: always */
	struct framing framing;
	struct buf line;   /* the line being composed */
	struct map *by_id; /* calls and listeners by the ids in use */
	struct list calls;
	struct list listeners;
	size_t call_count; /* counted calls that are not cancelled */
	size_t live_count; /* all calls that are not cancelled */
	size_t listener_count;
	bool deserted; /* in mcp_server_forget_client */
	struct mcp_legacy legacy;
	json_t *client_info;      /* of the last request that had it; or NULL */
	json_t *server_info_meta; /* {"io.modelcontextprotocol/serverInfo": ...} */
	char *tools_text[3]; /* texts of the list's result, one a kind of revision; made on first
				use */
	struct map *asked;   /* our requests to an older client, by id */
	struct list side_requests; /* side requests: no call waits for them */
	uint64_t last_asked;
	struct mcp_states *states; /* states behind requestState handles */
};

static inline bool mcp_is_modern(const struct mcp_call *call)
{
	return call->sender.revision >= MCP_2026_07_28;
}

/* ---- revision.c ---- */

/*
 * Reads the revision of a message. Returns 0 and sets *ret. Returns -1 and sets *no if the claim,
 * or its absence, does not fit the method.
 */
int mcp_revision_read(const struct mcp_server *server, const struct rpc_message *message,
		      struct mcp_sender *ret, struct mcp_refusal *no);
/* Returns -1 if the name is none of the eight levels. */
int mcp_revision_parse_level(const char *name, enum mcp_level *ret);
int mcp_refuse(struct mcp_refusal *no, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- dispatch.c ---- */

/* Takes one message. Takes ownership of `value`. `batch` is NULL outside arrays. */
void mcp_dispatch(struct mcp_server *server, json_t *value, struct mcp_batch *batch);

/* ---- call.c ---- */

/* Makes the call of a request and registers its id. */
struct mcp_call *mcp_call_new(struct mcp_server *server, const struct mcp_method *method,
			      json_t *value, const struct rpc_message *message);
/* Frees the call, after its answer was written or without one. */
void mcp_call_end(struct mcp_call *call);
void mcp_call_cancel(struct mcp_call *call);
/* Returns the `arguments` of the params, or an empty object. Borrowed from the call. */
json_t *mcp_call_arguments(struct mcp_call *call);
void mcp_call_refuse_params(struct mcp_call *call, const struct err *err);

/* ---- reply.c ---- */

void mcp_reply_result(struct mcp_call *call, json_t *result);
/* Writes a result whose text was made before. */
void mcp_reply_text(struct mcp_call *call, const char *result);
/* Writes an error. `id` NULL: an error without an id (RP-5). */
void mcp_reply_error(struct mcp_server *server, struct mcp_batch *batch, const json_t *id,
		     const struct mcp_refusal *no);
/* Writes a request of ours. Returns -1 if the line would be too long; nothing is written then. */
int mcp_reply_request(struct mcp_server *server, const char *id, const char *method,
		      json_t *params);
void mcp_reply_notify(struct mcp_server *server, const char *method, json_t *params_own);
/* Counts one request of the array as finished, answered or not. */
void mcp_batch_done(struct mcp_server *server, struct mcp_batch *batch);
/* Adds resultType and the other common fields of a result in 2026-07-28. */
void mcp_reply_decorate(const struct mcp_call *call, json_t *result);

/* ---- content.c ---- */

/* Convert blocks to kinds that the revision knows. They may change and return `content_own`. */
json_t *mcp_content_convert(json_t *content_own, enum mcp_revision revision);
json_t *mcp_content_convert_block(json_t *block_own, enum mcp_revision revision);

/* ---- methods ---- */

void mcp_initialize(struct mcp_call *call);
void mcp_ping(struct mcp_call *call);
void mcp_discover(struct mcp_call *call);
void mcp_set_level(struct mcp_call *call);
void mcp_tools_list(struct mcp_call *call);
void mcp_tools_call(struct mcp_call *call);
/* Drops the list's text, so that it is made anew when needed. */
void mcp_tools_forget_list(struct mcp_server *server);
void mcp_prompts_list(struct mcp_call *call);
void mcp_prompts_get(struct mcp_call *call);
void mcp_resources_list(struct mcp_call *call);
void mcp_resources_templates(struct mcp_call *call);
void mcp_resources_read(struct mcp_call *call);
void mcp_resources_subscribe(struct mcp_call *call);
void mcp_resources_unsubscribe(struct mcp_call *call);
void mcp_complete(struct mcp_call *call);
void mcp_listen(struct mcp_call *call);
void mcp_listen_free(struct mcp_listen *listen);
/* Refuses a cursor for a list that has one page. Returns true if the call was ended. */
bool mcp_call_refused_cursor(struct mcp_call *call);

/* ---- client_request.c, request_state.c ---- */

/* Reads inputResponses and requestState of a retry in 2026-07-28. Returns -1 and sets *no. */
int mcp_ask_resume(struct mcp_call *call, struct mcp_refusal *no);
/* Takes a response of the client, expected or not. */
void mcp_ask_response(struct mcp_server *server, const struct rpc_message *message);
/* Stops waiting for answers, and cancels open questions at the client. */
void mcp_ask_abandon(struct mcp_call *call);
/* Fails every call that waits for an answer, because none can come any more. */
void mcp_ask_input_ended(struct mcp_server *server);

struct mcp_states *mcp_states_new(void);
void mcp_states_free(struct mcp_states *states);
/* Stores `state_own` for the call's method and params. Returns the handle as a new string. */
json_t *mcp_states_put(struct mcp_states *states, const struct mcp_call *call, json_t *state_own);
/*
 * Returns the state; the caller owns it. NULL if it is unknown, used, expired or of another
 * request.
 */
json_t *mcp_states_take(struct mcp_states *states, const struct mcp_call *call,
			const json_t *handle);

#endif
