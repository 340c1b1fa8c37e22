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
#include "text/percent.h"
#include "tools/arrivals.h"
#include "tools/glob.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/beneath.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

/* Behind it the path of the last file that was told. */
#define CURSOR "after:"

enum {
	LIST_PAGE = 200,
	LIST_BYTES = 800000, /* an answer is one line of less than 1,000,000 */
};

struct listing {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	char *pattern;
	char *after; /* the last path of the page before; or NULL */
};

static void listing_free(struct listing *listing)
{
	free(listing->pattern);
	free(listing->after);
	free(listing);
}

static int check_pattern(const char *pattern, struct err *err)
{
	if (strlen(pattern) > GLOB_PATTERN_MAX)
		return err_set(err, ERR_INVALID, "arguments.pattern is longer than %d bytes",
			       GLOB_PATTERN_MAX);
	return 0;
}

/*
 * Matching files behind `after`, at most a page; returns the path of the last one when there are
 * more.
 */
static const char *add_page(json_t *artifacts, const struct listing *listing,
			    const struct scan *scan)
{
	size_t count;
	const struct file_info *files = scan_files(scan, &count);
	const struct redact *redact = service_settings(listing->service)->redact;
	size_t left = LIST_BYTES;
	const char *last = NULL;

	for (size_t i = listing->after == NULL
				? 0
				: tool_files_after(files, count, listing->after, redact);
	     i < count; i++) {
		cleanup_free char *composed = normal_compose(files[i].path);
		json_t *artifact;

		if (!glob_match(listing->pattern, composed))
			continue;
		artifact = json_array_size(artifacts) < LIST_PAGE
				   ? tool_artifact(listing->session, &files[i], &left)
				   : NULL;
		if (artifact == NULL)
			return last;
		json_append(artifacts, artifact);
		last = files[i].path;
	}
	return NULL;
}

static void put_cursor(json_t *answer, const struct listing *listing, const char *last)
{
	cleanup_free char *told = NULL;
	cleanup_free char *encoded = NULL;

	if (last == NULL)
		return;
	told = tool_told_path(last, service_settings(listing->service)->redact);
	encoded = percent_encode(told);
	json_put(answer, "next_cursor", json_make_fmt(CURSOR "%s", encoded));
}

static void on_listed(void *data, const struct scan *scan)
{
	struct listing *listing = data;
	json_t *answer;
	json_t *artifacts;
	const char *last;

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
	last = add_page(artifacts, listing, scan);
	json_put_str(answer, "session_id", session_id(listing->session));
	json_put_int(answer, "count", (json_int_t)json_array_size(artifacts));
	json_put(answer, "artifacts", artifacts);
	json_put(answer, "incoming",
		 arrivals_describe(service_arrivals_if_any(listing->service), listing->session));
	put_cursor(answer, listing, last);
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

static int read_cursor(const char *cursor, char **ret_after, struct err *err)
{
	size_t len = strlen(CURSOR);

	if (cursor != NULL && strncmp(cursor, CURSOR, len) == 0)
		*ret_after = percent_decode(cursor + len, strlen(cursor + len));
	if (cursor != NULL && *ret_after == NULL)
		return err_set(err, ERR_INVALID,
			       "arguments.cursor must be a next_cursor of an earlier answer");
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
	cleanup_free char *after = NULL;
	struct err err;

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), &err) < 0 ||
	    json_get_text(arguments, "arguments", "pattern", &pattern, NULL, &err) < 0 ||
	    json_get_text(arguments, "arguments", "cursor", &cursor, NULL, &err) < 0 ||
	    check_pattern(pattern, &err) < 0 || read_cursor(cursor, &after, &err) < 0 ||
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
	listing->after = mem_steal(&after);
	mcp_call_on_cancel(call, on_list_cancel, listing);
	session_list_files(session, on_listed, listing);
}
