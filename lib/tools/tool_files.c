/* SPDX-License-Identifier: MIT */
/* tool_files.c - upload_file and list_artifacts. */
#include <stdlib.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "runtime/language.h"
#include "session/session.h"
#include "text/base64.h"
#include "text/clean.h"
#include "tools/glob.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

enum {
	LIST_PAGE = 200,
	LIST_BYTES = 800000,   /* an answer is one line of less than 1,000,000 */
	UPLOAD_NAME_MAX = 200, /* bytes */
};

/* ---- upload_file ---- */

struct upload {
	const char *filename;
	const char *content;
	size_t len;
	bool base64;
	bool overwrite;
};

static int check_filename(const char *name, struct err *err)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	if (name[0] == '\0' || strlen(name) > UPLOAD_NAME_MAX)
		return err_set(err, ERR_INVALID,
			       "arguments.filename must have 1 to %d bytes, like data.csv",
			       UPLOAD_NAME_MAX);
	clean_name(&clean, name, strlen(name));
	if (!str_eq(buf_str(&clean), name))
		return err_set(err, ERR_INVALID,
			       "arguments.filename has a control or hidden character");
	return 0;
}

static int read_upload(const struct service *service, json_t *arguments, struct upload *ret,
		       struct err *err)
{
	static const char *const known[] = { "session_id", "filename", "content", "encoding",
					     "overwrite" };
	const char *encoding = "utf-8";

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0)
		return -1;
	for (size_t i = 0; i < 3; i++)
		if (json_get_required(arguments, "arguments", known[i], err) < 0)
			return -1;
	if (json_get_text(arguments, "arguments", "filename", &ret->filename, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "content", &ret->content, &ret->len, err) < 0 ||
	    json_get_text(arguments, "arguments", "encoding", &encoding, NULL, err) < 0 ||
	    json_get_bool(arguments, "arguments", "overwrite", &ret->overwrite, err) < 0)
		return -1;
	ret->base64 = str_eq(encoding, "base64");
	if (!ret->base64 && !str_eq(encoding, "utf-8"))
		return err_set(err, ERR_INVALID, "arguments.encoding must be utf-8 or base64");
	return check_filename(ret->filename, err);
}

static int store(const struct session *session, const struct upload *upload, char **ret_path,
		 size_t *ret_size, struct err *err)
{
	cleanup_buf struct buf decoded = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *path = xasprintf("input/%s", upload->filename);
	const char *data = upload->content;
	size_t len = upload->len;

	if (upload->base64) {
		if (base64_decode(&decoded, upload->content, upload->len, err) < 0)
			return err_wrap(err, "arguments.content");
		data = buf_str(&decoded);
		len = decoded.len;
	}
	if (workspace_write(session_workspace(session), path, data, len, upload->overwrite, err) <
	    0) {
		if (err->code == ERR_BUSY)
			return err_set(err, ERR_BUSY,
				       "a file of that name is in input/ already; pass "
				       "overwrite: true to replace it");
		return err_wrap(err, "arguments.filename");
	}
	*ret_path = mem_steal(&path);
	*ret_size = len;
	return 0;
}

void tool_upload_file(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct upload upload = { .overwrite = false };
	struct session *session;
	cleanup_free char *path = NULL;
	cleanup_free char *notice = NULL;
	size_t size = 0;
	json_t *answer;
	struct err err;

	if (read_upload(service, arguments, &upload, &err) < 0 ||
	    /* Most often data for Python. */
	    (session = tool_session_for(service, arguments, language_find("python"), &err)) ==
		    NULL ||
	    store(session, &upload, &path, &size, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	session_touch(session);
	session_files_touched(session);
	service_file_changed(service, session_id(session), path);
	notice = session_take_notice(session);
	answer = json_object();
	json_put_str(answer, "session_id", session_id(session));
	json_put(answer, "saved_path",
		 json_make_fmt("%s/%s", workspace_data_path(session_workspace(session)), path));
	json_put_int(answer, "size_bytes", (json_int_t)size);
	json_put(answer, "message", json_make_fmt("Code finds it as '%s'.", path));
	json_put_str(answer, "notice", notice);
	tool_answer(call, service, answer);
}

/* ---- list_artifacts ---- */

struct listing {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	char *pattern;
	size_t from; /* index among the matching files: the cursor */
};

static void listing_free(struct listing *listing)
{
	free(listing->pattern);
	free(listing);
}

static int check_pattern(const char *pattern, struct err *err)
{
	if (strlen(pattern) > GLOB_PATTERN_MAX)
		return err_set(err, ERR_INVALID, "arguments.pattern is longer than %d bytes",
			       GLOB_PATTERN_MAX);
	return 0;
}

/* Matching files from `from` on, at most a page; returns where the next page begins, 0: nowhere. */
static size_t add_page(json_t *artifacts, const struct listing *listing, const struct scan *scan)
{
	size_t count;
	const struct file_info *files = scan_files(scan, &count);
	size_t matching = 0;
	size_t left = LIST_BYTES;

	for (size_t i = 0; i < count; i++) {
		if (!glob_match(listing->pattern, files[i].path))
			continue;
		if (matching++ < listing->from)
			continue;
		if (json_array_size(artifacts) == LIST_PAGE ||
		    !tool_artifact_fits(&left, &files[i]))
			return matching - 1;
		json_append(artifacts, tool_artifact(session_id(listing->session), &files[i]));
	}
	return 0;
}

static void on_listed(void *data, const struct scan *scan)
{
	struct listing *listing = data;
	json_t *answer;
	json_t *artifacts;
	size_t next;

	if (scan == NULL) {
		struct err err;

		(void)err_set(&err, ERR_CANCELLED, "the session ended meanwhile");
		tool_fail(listing->call, listing->service, &err);
		listing_free(listing);
		return;
	}
	answer = json_object();
	artifacts = json_array();
	next = add_page(artifacts, listing, scan);
	json_put_str(answer, "session_id", session_id(listing->session));
	json_put_int(answer, "count", (json_int_t)json_array_size(artifacts));
	json_put(answer, "artifacts", artifacts);
	if (next > 0)
		json_put(answer, "next_cursor", json_make_fmt("%zu", next));
	if (scan_capped(scan))
		json_put(answer, "note",
			 json_make_fmt("only the first %d files were looked at", SCAN_FILES_MAX));
	tool_answer(listing->call, listing->service, answer);
	listing_free(listing);
}

static void on_list_cancel(struct mcp_call *call, void *data)
{
	struct listing *listing = data;

	session_list_files_cancel(listing->session, listing);
	mcp_call_fail(call, "cancelled");
	listing_free(listing);
}

static int read_cursor(const char *cursor, size_t *ret_from, struct err *err)
{
	char *end;
	unsigned long from;

	if (cursor == NULL)
		return 0;
	from = strtoul(cursor, &end, 10);
	if (cursor[0] < '0' || cursor[0] > '9' || *end != '\0' || from > SCAN_FILES_MAX)
		return err_set(err, ERR_INVALID,
			       "arguments.cursor must be a next_cursor of an earlier answer");
	*ret_from = from;
	return 0;
}

void tool_list_artifacts(struct mcp_call *call, json_t *arguments, void *context)
{
	static const char *const known[] = { "session_id", "pattern", "cursor" };
	struct service *service = context;
	struct session *session;
	struct listing *listing;
	const char *pattern = "**";
	const char *cursor = NULL;
	size_t from = 0;
	struct err err;

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), &err) < 0 ||
	    json_get_text(arguments, "arguments", "pattern", &pattern, NULL, &err) < 0 ||
	    json_get_text(arguments, "arguments", "cursor", &cursor, NULL, &err) < 0 ||
	    check_pattern(pattern, &err) < 0 || read_cursor(cursor, &from, &err) < 0 ||
	    (session = tool_session(service, arguments, false, &err)) == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	listing = xcalloc(1, sizeof(*listing));
	listing->call = call;
	listing->service = service;
	listing->session = session;
	listing->pattern = xstrdup(pattern);
	listing->from = from;
	mcp_call_on_cancel(call, on_list_cancel, listing);
	session_list_files(session, on_listed, listing);
}
