/* SPDX-License-Identifier: MIT */
/*
 * tool_files.c - list_artifacts: a page of the session's files that match a pattern.
 *
 * A listing can match a pattern with 20,000 paths of up to 4 MB. It does so in steps of a few
 * milliseconds, between which the loop serves other calls. A step is bounded by the work of the
 * globs and by the bytes of paths, not by time, so that it is the same on every machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer/artifact.h"
#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"
#include "session/restore.h"
#include "session/session.h"
#include "text/normal.h"
#include "text/percent.h"
#include "text/sanitize.h"
#include "text/status_line.h"
#include "tools/glob.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_import.h"
#include "workspace/beneath.h"
#include "workspace/scan.h"
#include "workspace/workspace.h"

/* The path of the last listed file follows. */
#define CURSOR "after:"

enum {
	LIST_PAGE = 200,
	LIST_BYTES = 800000, /* an answer is one line of less than 1,000,000 */
	/* The work of a step, a few milliseconds. */
	STEP_GLOB = 100000,
	STEP_BYTES = 100000,
};

struct listing {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	struct glob *glob;
	char *pattern; /* as it was given, in quotes; NULL: none was */
	char *after;   /* the last path of the page before; or NULL */
	size_t at;     /* index of the next file, once it has begun */
	bool begun;
	size_t last; /* index of the last file of the page */
	size_t left; /* of LIST_BYTES */
	json_t *artifacts;
};

static void listing_free(struct listing *listing)
{
	glob_free(listing->glob);
	free(listing->pattern);
	free(listing->after);
	json_decref(listing->artifacts);
	free(listing);
}

static int check_pattern(const char *pattern, struct err *err)
{
	if (strlen(pattern) > GLOB_PATTERN_MAX)
		return err_set(err, ERR_INVALID, "arguments.pattern is longer than %d bytes",
			       GLOB_PATTERN_MAX);
	return 0;
}

static void put_cursor(json_t *answer, const struct listing *listing, const char *last)
{
	cleanup_free char *shown = NULL;
	cleanup_free char *encoded = NULL;

	if (last == NULL)
		return;
	shown = artifact_shown_path(last, listing->service->settings->redact);
	encoded = percent_encode(shown);
	json_put(answer, "next_cursor", json_make_fmt(CURSOR "%s", encoded));
}

/* Returns false when the page has no room for the file. */
static bool add_file(struct listing *listing, const struct file_info *file)
{
	json_t *artifact = NULL;

	if (json_array_size(listing->artifacts) < LIST_PAGE)
		artifact = artifact_describe(listing->session, file, &listing->left);
	if (artifact != NULL)
		json_append(listing->artifacts, artifact);
	return artifact != NULL;
}

/* Finds the first file behind the page before. */
static void begin_listing(struct listing *listing, const struct file_info *files, size_t count)
{
	if (!listing->begun && listing->after != NULL)
		listing->at = artifact_after(files, count, listing->after,
					     listing->service->settings->redact);
	listing->begun = true;
}

/*
 * Lists as many of the next files as fit in a step. Returns true when further files must be
 * compared. Sets *ret_last to the path of the page's last file if the page is full, else to NULL.
 */
static bool list_some(struct listing *listing, const struct scan *scan, const char **ret_last)
{
	uint64_t steps_max = glob_steps(listing->glob) + STEP_GLOB;
	size_t count;
	const struct file_info *files = scan_files(scan, &count);

	*ret_last = NULL;
	begin_listing(listing, files, count);
	for (size_t bytes = 0; listing->at < count; listing->at++) {
		const char *path = files[listing->at].path;
		cleanup_free char *composed = NULL;

		if (glob_steps(listing->glob) >= steps_max || bytes >= STEP_BYTES)
			return true;
		bytes += strlen(path);
		composed = normal_compose(path);
		if (!glob_match(listing->glob, composed))
			continue;
		if (!add_file(listing, &files[listing->at])) {
			*ret_last = files[listing->last].path;
			return false;
		}
		listing->last = listing->at;
	}
	return false;
}

/* Says that the page has no file, and why. */
static void put_none(struct buf *text, const struct listing *listing)
{
	const char *more = listing->after != NULL ? "more " : "";

	if (listing->pattern == NULL)
		buf_putf(text, "no %sfiles\n", more);
	else
		buf_putf(text, "no %sfiles match '%s'%s\n", more, listing->pattern,
			 listing->after != NULL ? "" : "; without pattern all files are listed");
}

/* Appends a line for each file: its path and size, and the link that opens it for the user. */
static void put_lines(struct buf *text, const struct listing *listing)
{
	size_t index;
	const json_t *artifact;

	if (json_array_size(listing->artifacts) == 0)
		put_none(text, listing);
	json_array_foreach (listing->artifacts, index, artifact) {
		const char *url = json_string_value(json_object_get(artifact, "sas_url"));

		buf_putf(text, "%s ", json_string_value(json_object_get(artifact, "path")));
		status_size(text,
			    (uint64_t)json_integer_value(json_object_get(artifact, "size_bytes")));
		buf_putf(text, "%s%s\n", url != NULL ? " " : "", url != NULL ? url : "");
	}
}

static void answer_listing(const struct listing *listing, json_t *answer_own)
{
	static const char *const keys[] = { "incoming", "next_cursor", "note" };
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	put_lines(&text, listing);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const json_t *value = json_object_get(answer_own, keys[i]);
		cleanup_free char *whole = value != NULL ? json_write_text(value) : NULL;

		if (whole != NULL)
			buf_putf(&text, "%s: %s\n", keys[i], whole);
	}
	tool_answer_text(listing->call, listing->service, answer_own, &text);
}

static void fail_listing(struct listing *listing, const struct scan *scan)
{
	struct err err;

	errno = scan == NULL ? 0 : scan_error(scan);
	if (scan == NULL)
		(void)err_set(&err, ERR_CANCELLED, "the session ended meanwhile");
	else
		(void)err_sys(&err, "not all files could be looked at");
	tool_fail(listing->call, listing->service, &err);
	listing_free(listing);
}

static bool on_listing_files(void *data, const struct scan *scan)
{
	struct listing *listing = data;
	json_t *answer;
	const char *last;

	if (scan == NULL || scan_error(scan) != 0) {
		fail_listing(listing, scan);
		return false;
	}
	if (list_some(listing, scan, &last))
		return true;
	answer = json_object();
	json_put_str(answer, "session_id", session_id(listing->session));
	json_put_int(answer, "count", (json_int_t)json_array_size(listing->artifacts));
	json_put(answer, "artifacts", json_incref(listing->artifacts));
	json_put(answer, "incoming",
		 wait_import_describe(listing->service->imports, listing->session));
	put_cursor(answer, listing, last);
	if (scan_capped(scan))
		json_put(answer, "note",
			 json_make_fmt("files beyond the first %d, those beyond %d MB of paths, "
				       "and those in paths of more than %d bytes, are neither "
				       "listed nor saved",
				       SCAN_FILES_MAX, SCAN_PATHS_MAX >> 20, BENEATH_PATH_MAX));
	answer_listing(listing, answer);
	listing_free(listing);
	return false;
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

/* A pattern may be an absolute path, because answers have such paths. */
static const char *relative_pattern(const char *pattern, const char *folder)
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
	const char *pattern = NULL;
	cleanup_free char *composed = NULL;
	const char *cursor = NULL;
	cleanup_free char *after = NULL;
	struct err err;

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), &err) < 0 ||
	    json_get_text(arguments, "arguments", "pattern", &pattern, NULL, &err) < 0 ||
	    json_get_text(arguments, "arguments", "cursor", &cursor, NULL, &err) < 0 ||
	    (pattern != NULL && check_pattern(pattern, &err) < 0) ||
	    read_cursor(cursor, &after, &err) < 0 ||
	    (session = tool_session(service, arguments, false, &err)) == NULL ||
	    session_restore_check(session, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	listing = xcalloc(1, sizeof(*listing));
	listing->call = call;
	listing->service = service;
	listing->session = session;
	composed = normal_compose(relative_pattern(
		pattern != NULL ? pattern : "**", workspace_data_path(session_workspace(session))));
	listing->pattern = pattern != NULL ? sanitize_quote(pattern) : NULL;
	listing->after = mem_steal(&after);
	listing->glob = glob_new(composed);
	listing->left = LIST_BYTES;
	listing->artifacts = json_array();
	mcp_call_on_cancel(call, on_list_cancel, listing);
	session_walk_files(session, on_listing_files, listing);
}
