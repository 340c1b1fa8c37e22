/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of this layer share.
 *
 * One request is one `struct mcp_call`, whatever its method, from dispatch until its answer.
 * Rule ids such as ER-6 are those of the list in test/data/mcp/README.md.
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
	MCP_UNKNOWN_RESOURCE = -32002, /* legacy only */
};

/* A line with its \n stays below what the strictest host takes (Claude Desktop: 1 MiB). */
enum { MCP_LINE_MAX = 999999 };
enum { MCP_BATCH_MAX = 50, MCP_URIS_MAX = 1024 /* of one listen stream */ };

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

/* What a request's era says about its sender. Borrowed values. */
struct mcp_era {
	enum mcp_revision revision;
	json_t *capabilities;     /* NULL when there are none */
	json_t *client_info;      /* NULL when it said nothing */
	enum mcp_level log_level; /* lowest to send */
};

/* Why a request is refused. */
struct mcp_refusal {
	int code;
	char message[192];
	json_t *data; /* owned, or NULL */
};

/* The answers to one array, until they are complete (RP-7). */
struct mcp_batch {
	struct buf answers;
	size_t pending; /* requests not yet answered, plus one while the array is read */
	size_t unread;  /* messages still to be read */
};

struct mcp_listen; /* listen.c */
struct mcp_asking; /* ask.c */

struct mcp_method {
	const char *name;
	bool legacy;
	bool modern;
	bool counted;   /* held against live_calls_max */
	bool cacheable; /* its modern result has ttlMs and cacheScope (MR-2) */
	bool asks;      /* may answer input_required */
	bool (*offered)(const struct mcp_features *features); /* NULL: always */
	/* Answers now or keeps the call; run again after a legacy client answered a question. */
	void (*handle)(struct mcp_call *call);
};

struct mcp_call {
	struct mcp_server *server;
	struct list node; /* among server->calls, or its listeners */
	const struct mcp_method *method;
	json_t *message; /* owned; the next three are in it */
	json_t *id;
	json_t *params;         /* an object, or NULL */
	json_t *progress_token; /* or NULL */
	struct mcp_era era;     /* values owned: a later handshake may replace the session's */
	double progress;
	struct mcp_batch *batch; /* or NULL */
	bool cancelled;
	void (*on_cancel)(struct mcp_call *call, void *data);
	void *on_cancel_data;
	json_t *no_arguments;      /* owned stand-in for absent ones */
	json_t *answers;           /* owned: key -> a client's result, or NULL */
	json_t *state;             /* owned: what the tool kept while it asked, or NULL */
	struct mcp_asking *asking; /* waiting for a legacy client's answers */
	struct mcp_listen *listen;
};

struct mcp_legacy {
	bool handshake;   /* initialize was answered */
	bool initialized; /* the client said so */
	enum mcp_revision revision;
	json_t *capabilities;
	json_t *client_info;
	enum mcp_level log_level;
	json_t *subscribed; /* an object used as a set of URIs */
};

struct mcp_server {
	struct loop *loop;
	const struct mcp_features *features;
	const struct mcp_limits *limits;
	void (*write)(void *context, const char *line, size_t len);
	void *write_context;
	bool (*flowing)(void *context); /* of write; NULL: always */
	struct framing framing;
	struct buf line;   /* being composed */
	struct map *by_id; /* calls and listeners whose id is in use */
	struct list calls;
	struct list listeners;
	size_t call_count; /* counted and not cancelled */
	size_t live_count; /* all that are not cancelled */
	size_t listener_count;
	struct mcp_legacy legacy;
	json_t *server_info_meta; /* {"io.modelcontextprotocol/serverInfo": ...} */
	char *tools_text[2];      /* the list's result, by `modern`; made when first asked for */
	struct map *asked;        /* our requests to a legacy client, by id */
	struct list asides;       /* those of them that no call waits for */
	uint64_t last_asked;
	struct mcp_kept *kept; /* states behind requestState handles */
};

static inline bool mcp_is_modern(const struct mcp_call *call)
{
	return call->era.revision >= MCP_2026_07_28;
}

/* ---- era.c ---- */

/* 0 with `ret`, or -1 with `no` when the claim or its absence does not go with the method. */
int mcp_era_read(const struct mcp_server *server, const struct rpc_message *message,
		 struct mcp_era *ret, struct mcp_refusal *no);
/* -1 for a name that is none of the eight. */
int mcp_era_parse_level(const json_t *name, enum mcp_level *ret);
int mcp_refuse(struct mcp_refusal *no, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- dispatch.c ---- */

/* Takes one message; `batch` is NULL outside of arrays. */
void mcp_dispatch(struct mcp_server *server, json_t *value, struct mcp_batch *batch);

/* ---- call.c ---- */

struct mcp_call *mcp_call_new(struct mcp_server *server, const struct mcp_method *method,
			      json_t *value, const struct rpc_message *message);
/* After the answer was written, or instead of one. */
void mcp_call_end(struct mcp_call *call);
void mcp_call_cancel(struct mcp_call *call);
/* `arguments` of the params, or an empty object. */
json_t *mcp_call_arguments(struct mcp_call *call);
void mcp_call_refuse_params(struct mcp_call *call, const struct err *err);

/* ---- reply.c ---- */

void mcp_reply_result(struct mcp_call *call, json_t *result);
/* A result whose text was made before. */
void mcp_reply_text(struct mcp_call *call, const char *result);
/* `id` NULL: an error without one (RP-5). `data_own` may be NULL. */
void mcp_reply_error(struct mcp_server *server, struct mcp_batch *batch, const json_t *id,
		     const struct mcp_refusal *no);
/* 0, or -1 when the line would be too long and was not written. */
int mcp_reply_request(struct mcp_server *server, const char *id, const char *method,
		      json_t *params);
void mcp_reply_notify(struct mcp_server *server, const char *method, json_t *params_own);
/* One request of the array is done, answered or not. */
void mcp_batch_done(struct mcp_server *server, struct mcp_batch *batch);
/* Adds resultType and the other common fields of a modern result. */
void mcp_reply_decorate(const struct mcp_call *call, json_t *result);

/* ---- content.c ---- */

/* Blocks as the revision knows them; may change and return `content_own`. */
json_t *mcp_content_gate(json_t *content_own, enum mcp_revision revision);
json_t *mcp_content_gate_block(json_t *block_own, enum mcp_revision revision);

/* ---- methods ---- */

void mcp_initialize(struct mcp_call *call);
void mcp_ping(struct mcp_call *call);
void mcp_discover(struct mcp_call *call);
void mcp_set_level(struct mcp_call *call);
void mcp_tools_list(struct mcp_call *call);
void mcp_tools_call(struct mcp_call *call);
/* The list's text is made anew when it is next asked for. */
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
/* A cursor is refused where all lists have one page: true when the call was ended. */
bool mcp_call_refused_cursor(struct mcp_call *call);

/* ---- ask.c, keep.c ---- */

/* Reads inputResponses and requestState of a modern retry. -1 with `no`. */
int mcp_ask_resume(struct mcp_call *call, struct mcp_refusal *no);
/* A response from the client, wanted or not. */
void mcp_ask_response(struct mcp_server *server, const struct rpc_message *message);
/* Ends the waiting; the client is told to forget what is still open. */
void mcp_ask_abandon(struct mcp_call *call);
/* Fails every call that waits for an answer: none can come any more. */
void mcp_ask_input_ended(struct mcp_server *server);

struct mcp_kept *mcp_keep_new(void);
void mcp_keep_free(struct mcp_kept *kept);
/* Keeps `state_own` for the call's method and params; returns the handle as a new string. */
json_t *mcp_keep_put(struct mcp_kept *kept, const struct mcp_call *call, json_t *state_own);
/* The state, owned by the caller; NULL when unknown, used, expired or of another request. */
json_t *mcp_keep_take(struct mcp_kept *kept, const struct mcp_call *call, const json_t *handle);

#endif
