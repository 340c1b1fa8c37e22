/* SPDX-License-Identifier: MIT */
/*
 * reply.c - composes output lines. Each is composed whole in server->line, whose maximum is that of
 * one line; a result that does not fit is replaced by an error before anything is sent. Secrets are
 * removed here, where every value passes. The list of tools does not, because it is our own text.
 */
#include <stdio.h>
#include <stdlib.h>

#include "json/write.h"
#include "mcp/mcp_internal.h"
#include "redact/redact_json.h"

/* Bytes that each answer of a batch still to come may need at least. */
enum { BATCH_RESERVE = 8 << 10 };

static void begin_line(struct mcp_server *server, size_t max)
{
	buf_clear(&server->line);
	server->line.max = max;
	buf_puts(&server->line, "{\"jsonrpc\":\"2.0\"");
}

static int add_member(struct mcp_server *server, const char *name, const json_t *value,
		      struct err *err)
{
	if (buf_add_str(&server->line, ",\"", err) < 0 ||
	    buf_add_str(&server->line, name, err) < 0 || buf_add_str(&server->line, "\":", err) < 0)
		return -1;
	return json_write(&server->line, value, err);
}

/* Adds a value after removing secrets. Everything that the client does not know yet passes here. */
static int add_content(struct mcp_server *server, const char *name, json_t *value, struct err *err)
{
	redact_json(value, server->features->redact);
	return add_member(server, name, value, err);
}

static void write_line(struct mcp_server *server)
{
	server->write(server->write_context, server->line.data, server->line.len);
	if (server->line.cap > (size_t)64 << 10)
		buf_release(&server->line);
}

static size_t room(const struct mcp_batch *batch)
{
	size_t taken;

	if (batch == NULL)
		return MCP_LINE_MAX;
	taken = batch->answers.len + (batch->pending + batch->unread) * BATCH_RESERVE;
	return taken < MCP_LINE_MAX - BATCH_RESERVE ? MCP_LINE_MAX - taken : BATCH_RESERVE;
}

/* Ends the composed object as a line, or adds it to its batch. */
static int finish_line(struct mcp_server *server, struct mcp_batch *batch, struct err *err)
{
	if (buf_add_str(&server->line, batch != NULL ? "}" : "}\n", err) < 0)
		return -1;
	if (batch == NULL) {
		write_line(server);
		return 0;
	}
	buf_puts(&batch->answers, batch->answers.len > 0 ? "," : "[");
	buf_put(&batch->answers, server->line.data, server->line.len);
	return 0;
}

void mcp_batch_done(struct mcp_server *server, struct mcp_batch *batch)
{
	if (--batch->pending > 0)
		return;
	if (batch->answers.len > 0) {
		buf_puts(&batch->answers, "]\n");
		server->write(server->write_context, batch->answers.data, batch->answers.len);
	}
	buf_release(&batch->answers);
	free(batch);
}

static int try_error(struct mcp_server *server, struct mcp_batch *batch, const json_t *id,
		     const struct mcp_refusal *no, struct err *err)
{
	cleanup_json json_t *error = json_object();

	json_put_int(error, "code", no->code);
	json_put_str(error, "message", no->message);
	json_put(error, "data", json_incref(no->data));
	begin_line(server, room(batch));
	if (id != NULL && add_member(server, "id", id, err) < 0)
		return -1;
	if (add_content(server, "error", error, err) < 0)
		return -1;
	return finish_line(server, batch, err);
}

static void too_large(struct mcp_server *server, struct mcp_batch *batch, const json_t *id)
{
	struct mcp_refusal no;
	struct err err;

	(void)mcp_refuse(&no, RPC_INTERNAL_ERROR,
			 "The answer does not fit into one line of %d bytes", MCP_LINE_MAX);
	if (try_error(server, batch, id, &no, &err) < 0)
		abort(); /* ids are bounded, so this always fits */
}

void mcp_reply_error(struct mcp_server *server, struct mcp_batch *batch, const json_t *id,
		     const struct mcp_refusal *no)
{
	struct err err;

	if (try_error(server, batch, id, no, &err) < 0)
		too_large(server, batch, id);
	json_decref(no->data);
}

static int try_result(struct mcp_call *call, json_t *result, struct err *err)
{
	struct mcp_server *server = call->server;

	begin_line(server, room(call->batch));
	if (add_member(server, "id", call->id, err) < 0 ||
	    add_content(server, "result", result, err) < 0)
		return -1;
	return finish_line(server, call->batch, err);
}

/* Tools fail within their result, so that the model reads the reason. */
static json_t *make_too_large_result(const struct mcp_call *call)
{
	json_t *result = json_object();
	json_t *content = json_array();
	char text[128];
	int len = snprintf(text, sizeof(text),
			   "The result is larger than one answer may be (%d bytes). "
			   "Ask for less, or have it written to a file.",
			   MCP_LINE_MAX);

	json_append(content, mcp_text(text, (size_t)len));
	json_put(result, "content", content);
	json_put_bool(result, "isError", true);
	mcp_reply_decorate(call, result);
	return result;
}

void mcp_reply_result(struct mcp_call *call, json_t *result)
{
	struct err err;

	if (try_result(call, result, &err) == 0)
		return;
	if (call->method->handle == mcp_tools_call) {
		cleanup_json json_t *instead = make_too_large_result(call);

		if (try_result(call, instead, &err) == 0)
			return;
	}
	too_large(call->server, call->batch, call->id);
}

void mcp_reply_text(struct mcp_call *call, const char *result)
{
	struct mcp_server *server = call->server;
	struct err err;

	begin_line(server, room(call->batch));
	if (add_member(server, "id", call->id, &err) < 0 ||
	    buf_add_str(&server->line, ",\"result\":", &err) < 0 ||
	    buf_add_str(&server->line, result, &err) < 0 ||
	    finish_line(server, call->batch, &err) < 0)
		too_large(server, call->batch, call->id);
}

void mcp_reply_notify(struct mcp_server *server, const char *method, json_t *params_own)
{
	cleanup_json json_t *params = params_own;
	struct err err;

	begin_line(server, MCP_LINE_MAX);
	buf_putf(&server->line, ",\"method\":\"%s\"", method);
	if (params != NULL && add_content(server, "params", params, &err) < 0)
		return; /* too long: no client waits for a notification */
	(void)finish_line(server, NULL, &err);
}

int mcp_reply_request(struct mcp_server *server, const char *id, const char *method, json_t *params)
{
	struct err err;

	begin_line(server, MCP_LINE_MAX);
	buf_putf(&server->line, ",\"id\":\"%s\",\"method\":\"%s\"", id, method);
	if (params != NULL && add_content(server, "params", params, &err) < 0)
		return -1;
	return finish_line(server, NULL, &err);
}

static void put_missing(json_t *object, const char *key, json_t *value_own)
{
	if (json_object_get(object, key) == NULL)
		json_put(object, key, value_own);
	else
		json_decref(value_own);
}

void mcp_reply_decorate(const struct mcp_call *call, json_t *result)
{
	json_t *meta = json_object_get(result, "_meta");

	if (!mcp_is_modern(call))
		return;
	put_missing(result, "resultType", json_make_str("complete"));
	if ((call->method->traits & MCP_CACHEABLE) != 0 &&
	    str_eq(json_string_value(json_object_get(result, "resultType")), "complete")) {
		put_missing(result, "ttlMs", json_integer(0));
		put_missing(result, "cacheScope", json_make_str("private"));
	}
	if (!json_is_object(meta)) {
		json_put(result, "_meta", json_incref(call->server->server_info_meta));
		return;
	}
	if (json_object_update_missing(meta, call->server->server_info_meta) < 0)
		abort();
}
