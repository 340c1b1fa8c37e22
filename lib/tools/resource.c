/* SPDX-License-Identifier: MIT */
#include "tools/resource.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/write.h"
#include "session/table.h"
#include "text/base64.h"
#include "text/mime.h"
#include "text/percent.h"
#include "text/utf8.h"
#include "tools/guide.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/workspace.h"

enum {
	CODE_INVALID_PARAMS = -32602, /* JSON-RPC 2.0 */
	RESOURCE_TEXT_MAX = 900000,   /* bytes of a text in JSON; a line has less than 1,000,000 */
};

static const char guide_uri[] = "ptycell://guide";
static const char sessions_uri[] = "sessions://";
static const char session_prefix[] = "session://";
static const char files_part[] = "/files/";

static const struct mcp_resource_template templates[] = {
	{ .uri_template = "session://{id}",
	  .name = "session",
	  .description = "State, folders and limits of one session",
	  .mime_type = "application/json" },
	{ .uri_template = "session://{id}/files/{path}{?offset,length}",
	  .name = "session file",
	  .description = "A file of a session's folder, in ranges when it is large",
	  .mime_type = NULL },
};

/* ---- resources/list ---- */

static void add_resource(json_t *resources, const char *uri, const char *name, const char *mime)
{
	json_t *resource = json_object();

	json_put_str(resource, "uri", uri);
	json_put_str(resource, "name", name);
	json_put_str(resource, "mimeType", mime);
	json_append(resources, resource);
}

static void list(struct mcp_call *call, const char *cursor, void *context)
{
	const struct table *table = service_table_if_any(context);
	json_t *resources;
	json_t *result;

	if (cursor != NULL) { /* one page: any cursor is not ours */
		mcp_call_refuse(call, CODE_INVALID_PARAMS, "unknown cursor", NULL);
		return;
	}
	resources = json_array();
	result = json_object();
	add_resource(resources, guide_uri, "guide", "text/markdown");
	add_resource(resources, sessions_uri, "sessions", "application/json");
	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++) {
		const char *id = session_id(table_at(table, i));
		cleanup_free char *uri = xasprintf("%s%s", session_prefix, id);

		add_resource(resources, uri, id, "application/json");
	}
	json_put(result, "resources", resources);
	mcp_call_finish_result(call, result);
}

/* ---- resources/read ---- */

/* Ends the call with one content: text, or a blob when `is_text` is false. */
static void finish(struct mcp_call *call, const char *uri, const char *mime, const struct buf *data,
		   bool is_text)
{
	json_t *result = json_object();
	json_t *contents = json_array();
	json_t *content = json_object();

	json_put_str(content, "uri", uri);
	json_put_str(content, "mimeType", mime);
	if (is_text) {
		json_put(content, "text", json_make_text(buf_str(data), data->len));
	} else {
		cleanup_buf struct buf encoded;

		buf_init(&encoded, BUF_UNBOUNDED);
		base64_encode(&encoded, buf_str(data), data->len);
		json_put(content, "blob", json_make_text(buf_str(&encoded), encoded.len));
	}
	json_append(contents, content);
	json_put(result, "contents", contents);
	mcp_call_finish_result(call, result);
}

static void finish_json(struct mcp_call *call, const char *uri, json_t *value_own)
{
	cleanup_free char *text = json_write_text(value_own);
	cleanup_buf struct buf data = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&data, text);
	json_decref(value_own);
	finish(call, uri, "application/json", &data, true);
}

static void read_sessions(struct mcp_call *call, const struct table *table)
{
	json_t *rows = json_array();

	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++)
		json_append(rows, tool_describe_row(table_at(table, i)));
	finish_json(call, sessions_uri, rows);
}

static void read_guide(struct mcp_call *call, const struct service *service)
{
	cleanup_buf struct buf guide = BUF_INIT(BUF_UNBOUNDED);

	guide_write(&guide, service_settings(service));
	finish(call, guide_uri, "text/markdown", &guide, true);
}

/* What a session://{id}/files/ uri names. */
struct file_request {
	char *path; /* decoded */
	uint64_t offset;
	uint64_t length; /* 0: not given */
};

static bool parse_number(const char **p, uint64_t *ret)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*ret = strtoull(*p, &end, 10);
	*p = end;
	return errno == 0;
}

static int parse_query(const char *query, struct file_request *request, struct err *err)
{
	while (*query != '\0') {
		uint64_t *slot = NULL;

		if (strncmp(query, "offset=", 7) == 0)
			slot = &request->offset;
		else if (strncmp(query, "length=", 7) == 0)
			slot = &request->length;
		query += slot != NULL ? 7 : 0;
		if (slot == NULL || !parse_number(&query, slot) ||
		    (*query != '&' && *query != '\0'))
			return err_set(err, ERR_INVALID,
				       "after the path only ?offset=BYTES&length=BYTES may stand");
		query += *query == '&' ? 1 : 0;
	}
	return 0;
}

static int parse_file(const char *rest, struct file_request *request, struct err *err)
{
	size_t len = strcspn(rest, "?");

	if (rest[len] == '?' && parse_query(rest + len + 1, request, err) < 0)
		return -1;
	request->path = percent_decode(rest, len);
	return request->path != NULL ? 0 : err_set(err, ERR_INVALID, "the path has a %%00");
}

static int read_range(int fd, const struct file_request *request, size_t len, struct buf *out,
		      struct err *err)
{
	char *room = buf_reserve(out, len, err);
	size_t got = 0;

	if (room == NULL)
		return -1;
	while (got < len) {
		ssize_t n = pread(fd, room + got, len - got, (off_t)(request->offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "reading the file");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	buf_commit(out, got);
	return 0;
}

static int load(const struct session *session, const struct file_request *request, struct buf *out,
		struct err *err)
{
	off_t size = 0;
	cleanup_fd int fd =
		workspace_open_read(session_workspace(session), request->path, &size, err);
	uint64_t left;

	if (fd < 0)
		return -1;
	left = (uint64_t)size > request->offset ? (uint64_t)size - request->offset : 0;
	if (request->length > 0 && request->length < left)
		left = request->length;
	if (left > RESOURCE_INLINE_MAX)
		return err_set(err, ERR_LIMIT,
			       "the file has %ju bytes and one answer takes %d: add "
			       "?offset=0&length=%d and read it in ranges",
			       (uintmax_t)size, RESOURCE_INLINE_MAX, RESOURCE_INLINE_MAX);
	return read_range(fd, request, (size_t)left, out, err);
}

/* What text grows to in JSON; base64 of the same bytes always fits into a line. */
static bool fits_as_text(const struct buf *data)
{
	size_t size = 0;

	for (size_t i = 0; i < data->len; i++) {
		unsigned char c = (unsigned char)data->data[i];

		if (c >= ' ')
			size += c == '"' || c == '\\' ? 2 : 1;
		else
			size += (c >= '\b' && c <= '\r' && c != '\v') ? 2 : 6;
	}
	return size <= RESOURCE_TEXT_MAX;
}

static void read_file(struct mcp_call *call, const struct session *session, const char *uri,
		      const char *rest)
{
	struct file_request request = { .path = NULL };
	cleanup_buf struct buf data = BUF_INIT(RESOURCE_INLINE_MAX);
	struct err err;
	const char *mime;

	if (parse_file(rest, &request, &err) < 0 || load(session, &request, &data, &err) < 0) {
		if (request.path != NULL && (err.code == ERR_NOT_FOUND || err.code == ERR_DENIED))
			mcp_call_refuse_unknown_resource(call, uri);
		else
			mcp_call_refuse(call, CODE_INVALID_PARAMS, err.msg, NULL);
		free(request.path);
		return;
	}
	mime = mime_of_name(request.path);
	finish(call, uri, mime, &data,
	       mime_is_text(mime) && utf8_valid(buf_str(&data), data.len) && fits_as_text(&data));
	free(request.path);
}

static void read_session(struct mcp_call *call, struct table *table, const char *uri)
{
	const char *rest = uri + strlen(session_prefix);
	cleanup_free char *id = xmemdup(rest, strcspn(rest, "/"));
	struct session *session = NULL;
	struct err err;

	rest += strlen(id);
	if (table != NULL)
		session = table_find(table, id, &err);
	if (session != NULL && rest[0] == '\0')
		finish_json(call, uri, tool_describe_session(session));
	else if (session != NULL && strncmp(rest, files_part, strlen(files_part)) == 0)
		read_file(call, session, uri, rest + strlen(files_part));
	else
		mcp_call_refuse_unknown_resource(call, uri);
}

static void read_uri(struct mcp_call *call, const char *uri, void *context)
{
	struct table *table = service_table_if_any(context);

	if (str_eq(uri, guide_uri))
		read_guide(call, context);
	else if (str_eq(uri, sessions_uri))
		read_sessions(call, table);
	else if (strncmp(uri, session_prefix, strlen(session_prefix)) == 0)
		read_session(call, table, uri);
	else
		mcp_call_refuse_unknown_resource(call, uri);
}

void resource_features(struct mcp_features *features)
{
	features->resources_list = list;
	features->resources_read = read_uri;
	features->resources_change = true;
	features->templates = templates;
	features->template_count = ARRAY_SIZE(templates);
}
