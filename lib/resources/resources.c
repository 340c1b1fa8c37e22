/* SPDX-License-Identifier: MIT */
/*
 * resources.c - finds the resource of a URI, and reads files in ranges.
 *
 * A file whose path has a secret is named by its shown path, in which the secret is replaced. Such
 * a URI is resolved by a scan of the session's files. A part of a text is read with the longest
 * secret around it, so that a secret across its border is found.
 */
#include "resources/resources.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/artifact.h"
#include "answer/session_json.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "redact/redact.h"
#include "resources/content.h"
#include "resources/guide.h"
#include "resources/resource_journal.h"
#include "session/restore.h"
#include "session/table.h"
#include "text/mime.h"
#include "text/percent.h"
#include "text/utf8.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

enum {
	CODE_INVALID_PARAMS = -32602, /* JSON-RPC 2.0 */
};

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
	{ .uri_template = "session://{id}/cells/{n}{?offset,length}",
	  .name = "cell",
	  .description =
		  "One cell: code, how it ended, output; its figures are /cells/{n}/{figure}",
	  .mime_type = "application/json" },
	{ .uri_template = "session://{id}/notebook{?offset,length}",
	  .name = "notebook",
	  .description = "Everything that was done in a session, as a Jupyter notebook",
	  .mime_type = "application/x-ipynb+json" },
	{ .uri_template = "session://{id}/script{?language,offset,length}",
	  .name = "script",
	  .description = "The code alone; cells of other languages are comments",
	  .mime_type = NULL },
};

static void read_sessions(struct mcp_call *call, const struct table *table)
{
	json_t *rows = json_array();

	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++)
		json_append(rows, session_json_row(table_at(table, i)));
	content_finish_json(call, RESOURCES_SESSIONS, rows);
}

static void read_guide(struct mcp_call *call, const struct service *service)
{
	cleanup_buf struct buf guide = BUF_INIT(BUF_UNBOUNDED);

	guide_write(&guide, service->settings);
	content_finish(call, RESOURCES_GUIDE, "text/markdown", &guide, true);
}

static int read_range(int fd, uint64_t offset, size_t len, struct buf *out, struct err *err)
{
	char *room = buf_reserve(out, len, err);
	ssize_t got = room == NULL ? -1 : fd_read_at(fd, room, len, offset);

	if (got < 0)
		return room == NULL ? -1 : err_sys(err, "reading the file");
	buf_commit(out, (size_t)got);
	return 0;
}

/* Reads as many bytes around the part as a secret can have: one may cross its border. */
static int read_redacted(int fd, const struct content_range *range, const struct redact *redact,
			 struct buf *out, struct err *err)
{
	cleanup_buf struct buf around = BUF_INIT(BUF_UNBOUNDED);
	uint64_t offset = range->offset + range->before;
	size_t reach = redact_reach(redact);
	size_t before = offset < reach ? (size_t)offset : reach;
	size_t from;
	size_t to;

	if (read_range(fd, offset - before, before + range->part + reach, &around, err) < 0)
		return -1;
	from = utf8_border(buf_str(&around), around.len, before);
	to = utf8_border(buf_str(&around), around.len, before + range->part);
	redact_range(redact, buf_str(&around), around.len, from, to, out);
	return 0;
}

struct wanted {
	const char *path;
	const char *query;
	bool is_text;
	const struct redact *redact; /* NULL: the bytes as they are */
};

static int load_file(const struct session *session, const struct wanted *wanted, struct buf *out,
		     struct err *err)
{
	off_t size = 0;
	struct content_range range;
	cleanup_buf struct buf data = BUF_INIT(BUF_UNBOUNDED);
	cleanup_fd int fd =
		workspace_open_read(session_workspace(session), wanted->path, &size, err);

	if (fd < 0 || content_range(&range, wanted->query, "file", (uint64_t)size, err) < 0)
		return -1;
	if (wanted->is_text && wanted->redact != NULL && range.part > 0)
		return read_redacted(fd, &range, wanted->redact, out, err);
	if (read_range(fd, range.offset, range.len, &data, err) < 0)
		return -1;
	content_take(out, &range, &data, wanted->is_text);
	return 0;
}

/* The search for the file with a shown path. */
struct path_search {
	struct mcp_call *call;
	struct session *session;
	char *uri;
	char *path;
	const struct redact *redact;
};

static void search_free(struct path_search *path_search)
{
	free(path_search->uri);
	free(path_search->path);
	free(path_search);
}

static void answer_file(struct mcp_call *call, const struct session *session, const char *uri,
			const struct wanted *wanted)
{
	cleanup_buf struct buf data = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	if (session_restore_check(session, &err) < 0 || load_file(session, wanted, &data, &err) < 0)
		content_refuse(call, uri, &err);
	else
		content_finish(call, uri, mime_of_name(wanted->path), &data, wanted->is_text);
}

static void read_path(struct mcp_call *call, const struct session *session, const char *uri,
		      const char *path, const struct redact *redact)
{
	const struct wanted wanted = { .path = path,
				       .query = uri + strcspn(uri, "?"),
				       .is_text = mime_is_text(mime_of_name(path)),
				       .redact = redact };

	answer_file(call, session, uri, &wanted);
}

static void on_search_files(void *data, const struct scan *scan)
{
	struct path_search *path_search = data;
	size_t count = 0;
	const struct file_info *files = scan == NULL ? NULL : scan_files(scan, &count);
	size_t i = artifact_find(files, count, path_search->path, path_search->redact);

	if (scan == NULL)
		mcp_call_refuse_unknown_resource(path_search->call, path_search->uri);
	else
		read_path(path_search->call, path_search->session, path_search->uri,
			  i < count ? files[i].path : path_search->path, path_search->redact);
	search_free(path_search);
}

static void on_search_cancel(struct mcp_call *call, void *data)
{
	struct path_search *path_search = data;

	session_list_files_cancel(path_search->session, path_search);
	mcp_call_refuse(call, CODE_INVALID_PARAMS, "cancelled", NULL);
	search_free(path_search);
}

static void read_file(struct mcp_call *call, struct session *session, const char *uri,
		      const char *rest, const struct redact *redact)
{
	cleanup_free char *path = percent_decode(rest, strcspn(rest, "?"));
	struct path_search *path_search;

	if (path == NULL) {
		mcp_call_refuse(call, CODE_INVALID_PARAMS, "the path has a %00", NULL);
		return;
	}
	if (redact == NULL || strstr(path, "[secret ") == NULL) {
		read_path(call, session, uri, path, redact);
		return;
	}
	path_search = xcalloc(1, sizeof(*path_search));
	path_search->call = call;
	path_search->session = session;
	path_search->uri = xstrdup(uri);
	path_search->path = mem_steal(&path);
	path_search->redact = redact;
	mcp_call_on_cancel(call, on_search_cancel, path_search);
	session_list_files(session, on_search_files, path_search);
}

static void read_session(struct mcp_call *call, struct table *table, const char *uri,
			 const struct redact *redact)
{
	const char *rest = uri + strlen(session_prefix);
	cleanup_free char *id = xmemdup(rest, strcspn(rest, "/"));
	struct session *session = NULL;
	struct err err;

	rest += strlen(id);
	if (table != NULL)
		session = table_find(table, id, &err);
	if (session != NULL && rest[0] == '\0')
		content_finish_json(call, uri, session_json_describe(session));
	else if (session != NULL && strncmp(rest, files_part, strlen(files_part)) == 0)
		read_file(call, session, uri, rest + strlen(files_part), redact);
	else if (session != NULL && rest[0] == '/')
		resource_journal(call, session, uri, rest + 1);
	else
		mcp_call_refuse_unknown_resource(call, uri);
}

static void read_uri(struct mcp_call *call, const char *uri, void *context)
{
	const struct service *service = context;
	struct table *table = service->table;

	if (str_eq(uri, RESOURCES_GUIDE))
		read_guide(call, service);
	else if (str_eq(uri, RESOURCES_SESSIONS))
		read_sessions(call, table);
	else if (strncmp(uri, session_prefix, strlen(session_prefix)) == 0)
		read_session(call, table, uri, service->settings->redact);
	else
		mcp_call_refuse_unknown_resource(call, uri);
}

void resources_features(struct mcp_features *features)
{
	features->resources_list = resource_list;
	features->resources_read = read_uri;
	features->resources_change = true;
	features->resources_subscribe = true;
	features->templates = templates;
	features->template_count = ARRAY_SIZE(templates);
}
