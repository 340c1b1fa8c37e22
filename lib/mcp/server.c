/* SPDX-License-Identifier: MIT */
/*
 * server.c - the server as an object: lines in, batches, change of clients' lists, shutdown. An
 * unreadable line is answered with its own id if that can be found, because without an id the
 * client would wait for ever.
 */
#include "mcp/server.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/parse.h"
#include "mcp/mcp_internal.h"

/* Bytes of a too long line in which the request's id is looked for. */
enum { HEAD_MAX = 64 << 10 };

static void on_server_line(struct framing *framing, const char *line, size_t len);
static void on_too_long(struct framing *framing, const char *start, size_t len);

static const struct framing_handlers framing_handlers = { on_server_line, on_too_long };

static json_t *make_server_info_meta(const struct mcp_features *features)
{
	json_t *info = json_object();
	json_t *meta = json_object();

	json_put_str(info, "name", features->name);
	json_put_str(info, "title", features->title);
	json_put_str(info, "version", features->version);
	json_put(meta, META_PREFIX "serverInfo", info);
	return meta;
}

/* Sets what each client begins with. */
static void begin_client(struct mcp_server *server)
{
	framing_init(&server->framing, server->limits->line_max, &framing_handlers);
	server->legacy =
		(struct mcp_legacy){ .log_level = MCP_LEVEL_INFO, .subscribed = json_object() };
	server->client_info = NULL;
	server->states = mcp_states_new();
}

/* Frees what begin_client set, and what was set since. */
static void end_client(struct mcp_server *server)
{
	framing_release(&server->framing);
	json_decref(server->legacy.capabilities);
	json_decref(server->legacy.subscribed);
	json_decref(server->legacy.client_info);
	json_decref(server->client_info);
	mcp_states_free(server->states);
}

struct mcp_server *mcp_server_new(struct loop *loop, const struct mcp_features *features,
				  const struct mcp_limits *limits,
				  void (*write)(void *context, const char *line, size_t len))
{
	struct mcp_server *server = xcalloc(1, sizeof(*server));

	server->loop = loop;
	server->features = features;
	server->limits = limits;
	mcp_server_set_write(server, write, features->context);
	buf_init(&server->line, MCP_LINE_MAX);
	server->by_id = map_new();
	server->asked = map_new();
	list_init(&server->side_requests);
	list_init(&server->calls);
	list_init(&server->listeners);
	server->server_info_meta = make_server_info_meta(features);
	begin_client(server);
	return server;
}

void mcp_server_set_write(struct mcp_server *server,
			  void (*write)(void *context, const char *line, size_t len), void *context)
{
	server->write = write;
	server->write_context = context;
}

void mcp_server_set_flowing(struct mcp_server *server, bool (*flowing)(void *context))
{
	server->flowing = flowing;
}

static void free_listeners(struct mcp_server *server)
{
	list_for_each (struct mcp_call, call, &server->listeners, node)
		mcp_call_end(call);
}

void mcp_server_free(struct mcp_server *server)
{
	if (server == NULL)
		return;
	free_listeners(server);
	assert(list_empty(&server->calls));
	end_client(server);
	buf_release(&server->line);
	map_free(server->by_id);
	map_free(server->asked);
	json_decref(server->server_info_meta);
	mcp_tools_forget_list(server);
	free(server);
}

const char *mcp_server_client_name(const struct mcp_server *server)
{
	const char *name = json_string_value(json_object_get(server->client_info, "name"));

	return name != NULL ? name : "";
}

void mcp_server_feed(struct mcp_server *server, const char *data, size_t len)
{
	framing_feed(&server->framing, data, len);
}

void mcp_server_feed_end(struct mcp_server *server)
{
	framing_end(&server->framing);
	mcp_ask_input_ended(server);
}

size_t mcp_server_live_calls(const struct mcp_server *server)
{
	return server->live_count;
}

/* Finds a live call. Owners of cancelled calls may end others, so each search starts anew. */
static struct mcp_call *first_live(const struct mcp_server *server)
{
	list_for_each (struct mcp_call, call, &server->calls, node)
		if (!call->cancelled)
			return call;
	return NULL;
}

void mcp_server_cancel_all(struct mcp_server *server)
{
	struct mcp_call *call;

	while ((call = first_live(server)) != NULL)
		mcp_call_cancel(call);
}

void mcp_server_forget_client(struct mcp_server *server)
{
	server->deserted = true;
	mcp_server_cancel_all(server);
	server->deserted = false;
	free_listeners(server);
	mcp_ask_input_ended(server);
	end_client(server);
	begin_client(server);
}

/* Returns the lowest level that the client takes now. */
static enum mcp_level lowest_level(const struct mcp_server *server)
{
	enum mcp_level lowest = server->legacy.log_asked ? server->legacy.log_level : MCP_LEVEL_OFF;

	list_for_each (struct mcp_call, call, &server->calls, node)
		if (mcp_is_modern(call) && !call->cancelled && call->sender.log_level < lowest)
			lowest = call->sender.log_level;
	return lowest;
}

bool mcp_server_wants_log(const struct mcp_server *server, const char *level)
{
	enum mcp_level rank;

	return server->features->logging && mcp_revision_parse_level(level, &rank) == 0 &&
	       rank >= lowest_level(server) &&
	       (server->flowing == NULL || server->flowing(server->write_context));
}

void mcp_server_log(struct mcp_server *server, const char *level, const char *logger,
		    const char *text)
{
	json_t *params;

	if (!mcp_server_wants_log(server, level))
		return;
	params = json_object();
	json_put_str(params, "level", level);
	json_put_str(params, "logger", logger);
	json_put_str(params, "data", text);
	mcp_reply_notify(server, "notifications/message", params);
}

static void refuse_line(struct mcp_server *server, int code, const char *problem)
{
	const char *kind = code == RPC_PARSE_ERROR ? "Parse error" : "Invalid request";
	struct mcp_refusal no;

	(void)mcp_refuse(&no, code, "%s: %s", kind, problem);
	mcp_reply_error(server, NULL, NULL, &no);
}

/* Returns advice for the client. exec_sql's params hold numbers of any size. */
static const char *advice_on(const char *problem)
{
	return strstr(problem, "too big integer") != NULL
		       ? "; pass an integer of more than 64 bits as a text, in quotes"
		       : "";
}

/*
 * Answers an unreadable line with an error. It has the request's id if that can be read, because
 * without an id the client would wait for ever. `value` is the readable part of the line, or NULL.
 */
static void refuse_text(struct mcp_server *server, json_t *value, const char *problem)
{
	struct rpc_message message;
	struct mcp_refusal no;

	rpc_message_read(value, &message);
	if (message.kind != RPC_REQUEST) {
		refuse_line(server, RPC_PARSE_ERROR, problem);
		return;
	}
	(void)mcp_refuse(&no, RPC_PARSE_ERROR, "Parse error: %s%s", problem, advice_on(problem));
	mcp_reply_error(server, NULL, message.id, &no);
}

static bool takes_batches(const struct mcp_server *server)
{
	return server->legacy.handshake && server->legacy.revision == MCP_2025_03_26;
}

static void take_batch(struct mcp_server *server, json_t *array)
{
	struct mcp_batch *batch;
	json_t *item;
	size_t i;

	if (!takes_batches(server)) {
		refuse_line(server, RPC_INVALID_REQUEST, "no batches here");
		return;
	}
	if (json_array_size(array) == 0 || json_array_size(array) > MCP_BATCH_MAX) {
		refuse_line(server, RPC_INVALID_REQUEST, "a batch has 1 to 50 messages");
		return;
	}
	batch = xcalloc(1, sizeof(*batch));
	buf_init(&batch->answers, MCP_LINE_MAX);
	batch->pending = 1; /* the reading itself: no answer is sent before its end */
	batch->unread = json_array_size(array);
	json_array_foreach (array, i, item) {
		batch->unread--;
		mcp_dispatch(server, item, batch);
	}
	mcp_batch_done(server, batch);
}

static void on_server_line(struct framing *framing, const char *line, size_t len)
{
	struct mcp_server *server = container_of(framing, struct mcp_server, framing);
	cleanup_json json_t *value = NULL;
	struct err err;

	value = json_parse(line, len, &err);
	if (value == NULL) {
		value = json_parse_mended(line, len);
		refuse_text(server, value, err.msg);
	} else if (json_is_array(value))
		take_batch(server, value);
	else
		mcp_dispatch(server, value, NULL);
}

/* Hosts put id and method before large members. */
static void on_too_long(struct framing *framing, const char *start, size_t len)
{
	struct mcp_server *server = container_of(framing, struct mcp_server, framing);
	cleanup_json json_t *value = json_parse_head(start, size_min(len, HEAD_MAX));

	refuse_text(server, value, "the line is longer than this server reads");
}
