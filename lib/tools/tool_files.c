/* SPDX-License-Identifier: MIT */
/* tool_files.c - list_artifacts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "session/session.h"
#include "text/normal.h"
#include "tools/arrivals.h"
#include "tools/glob.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/beneath.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

enum {
	LIST_PAGE = 200,
	LIST_BYTES = 800000, /* an answer is one line of less than 1,000,000 */
};

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
		cleanup_free char *composed = normal_compose(files[i].path);
		json_t *artifact;

		if (!glob_match(listing->pattern, composed))
			continue;
		if (matching++ < listing->from)
			continue;
		artifact = json_array_size(artifacts) < LIST_PAGE
				   ? tool_artifact(listing->session, &files[i], &left)
				   : NULL;
		if (artifact == NULL)
			return matching - 1;
		json_append(artifacts, artifact);
	}
	return 0;
}

static void on_listed(void *data, const struct scan *scan)
{
	struct listing *listing = data;
	json_t *answer;
	json_t *artifacts;
	size_t next;

	if (scan == NULL || scan_error(scan) != 0) {
		struct err err;

		errno = scan == NULL ? 0 : scan_error(scan);
		if (scan == NULL)
			(void)err_set(&err, ERR_CANCELLED, "the session ended meanwhile");
		else
			(void)err_sys(&err, "not all files could be looked at");
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
	json_put(answer, "incoming",
		 arrivals_describe(service_arrivals_if_any(listing->service), listing->session));
	if (next > 0)
		json_put(answer, "next_cursor", json_make_fmt("%zu", next));
	if (scan_capped(scan))
		json_put(answer, "note",
			 json_make_fmt("files beyond the first %d, and those in paths of more "
				       "than %d bytes, are neither listed nor saved",
				       SCAN_FILES_MAX, BENEATH_PATH_MAX));
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

/* Answers name files by whole paths, too, so patterns do. */
static const char *relative(const char *pattern, const char *folder)
{
	size_t len = strlen(folder);

	if (strncmp(pattern, folder, len) == 0 && pattern[len] == '/')
		return pattern + len + 1;
	return strncmp(pattern, "./", 2) == 0 ? pattern + 2 : pattern;
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
	listing->pattern =
		normal_compose(relative(pattern, workspace_data_path(session_workspace(session))));
	listing->from = from;
	mcp_call_on_cancel(call, on_list_cancel, listing);
	session_list_files(session, on_listed, listing);
}
