/* SPDX-License-Identifier: MIT */
/*
 * resource_list.c - resources/list: sessions, their notebooks and the files of their output/.
 *
 * A page visits one session after the other, in the order of their ids, and waits for the files of
 * each. Sessions and files may come and go between pages. A cursor is ID/PATH: the session, and the
 * last of its files on the page before, or nothing when none of them was listed. The next page
 * continues behind it, whether or not they still exist.
 */
#include <stdlib.h>
#include <string.h>

#include "answer/artifact.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "json/make.h"
#include "resources/resources.h"
#include "session/restore.h"
#include "session/table.h"
#include "text/mime.h"
#include "text/percent.h"
#include "text/sanitize.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/scan.h"

enum {
	CODE_INVALID_PARAMS = -32602, /* JSON-RPC 2.0 */
	PAGE = 200,
	PAGE_BYTES = 800000, /* an answer is one line of less than 1,000,000 */
	FILE_COST = 200,     /* bytes of a file in the answer, without its path */
	/* For each byte of the path: it is there as the name and in the URI, escaped. */
	FILE_PATH_COST = 9,
};

static const char output[] = "output/";

struct resource_page {
	struct mcp_call *call;
	struct service *service;
	json_t *resources;
	size_t left;  /* bytes */
	char *id;     /* of the current session; NULL before the first */
	char *after;  /* the shown path of its last listed file; "": none yet */
	bool waiting; /* for its files */
};

static void list_session(struct resource_page *page, struct session *session);

static void page_free(struct resource_page *page)
{
	json_decref(page->resources);
	free(page->id);
	free(page->after);
	free(page);
}

static void finish_page(struct resource_page *page, char *next_own)
{
	cleanup_free char *next = next_own;
	json_t *result = json_object();

	json_put(result, "resources", json_incref(page->resources));
	json_put_str(result, "nextCursor", next);
	mcp_call_finish_result(page->call, result);
	page_free(page);
}

static json_t *make_resource(const char *uri, const char *name, const char *mime)
{
	json_t *resource = json_object();

	json_put_str(resource, "uri", uri);
	json_put_str(resource, "name", name);
	json_put_str(resource, "mimeType", mime);
	return resource;
}

static void add_session(const struct resource_page *page, const struct session *session)
{
	const char *id = session_id(session);
	cleanup_free char *uri = xasprintf("session://%s", id);
	cleanup_free char *notebook = xasprintf("session://%s/notebook", id);
	cleanup_free char *name = xasprintf("%s notebook", id);

	json_append(page->resources, make_resource(uri, id, "application/json"));
	if (journal_has_run(session_journal(session)))
		json_append(page->resources,
			    make_resource(notebook, name, "application/x-ipynb+json"));
}

/* Returns false when the page has no room for the file. */
static bool add_file(struct resource_page *page, const struct file_info *file)
{
	size_t cost = FILE_COST + FILE_PATH_COST * strlen(file->path);
	const struct redact *redact = page->service->settings->redact;
	cleanup_free char *uri = artifact_uri(page->id, file->path, redact);
	cleanup_free char *name = sanitize_path_string(file->path);
	json_t *resource;

	if (json_array_size(page->resources) >= PAGE || cost > page->left)
		return false;
	page->left -= cost;
	resource = make_resource(uri, name, mime_of_name(file->path));
	json_put_int(resource, "size", (json_int_t)file->size);
	json_append(page->resources, resource);
	return true;
}

static bool is_listed(const struct file_info *file)
{
	return !file->is_link && strncmp(file->path, output, sizeof(output) - 1) == 0;
}

/* Returns the cursor behind this file. With NULL: before the session's first file. */
static char *make_cursor(const struct resource_page *page, const char *path)
{
	const struct redact *redact = page->service->settings->redact;
	cleanup_free char *shown = artifact_shown_path(path != NULL ? path : "", redact);
	cleanup_free char *encoded = percent_encode(shown);

	return xasprintf("%s/%s", page->id, encoded);
}

/* Returns whether the page is full; then *ret_cursor is the start of the next one. */
static bool add_files(struct resource_page *page, const struct scan *scan, char **ret_cursor)
{
	size_t count;
	const struct file_info *files = scan_files(scan, &count);
	size_t i = artifact_after(files, count, page->after, page->service->settings->redact);
	const char *last = page->after;

	for (; i < count; i++) {
		if (!is_listed(&files[i]))
			continue;
		if (!add_file(page, &files[i])) {
			*ret_cursor = make_cursor(page, last);
			return true;
		}
		last = files[i].path;
	}
	return false;
}

static struct session *session_of(const struct resource_page *page, const char *id)
{
	const struct table *table = page->service->table;

	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++)
		if (str_eq(session_id(table_at(table, i)), id))
			return table_at(table, i);
	return NULL;
}

/* Returns the session with the next id, or the first one if `id` is NULL. */
static struct session *session_after(const struct resource_page *page, const char *id)
{
	const struct table *table = page->service->table;
	struct session *next = NULL;

	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++) {
		struct session *session = table_at(table, i);

		if ((id == NULL || strcmp(session_id(session), id) > 0) &&
		    (next == NULL || strcmp(session_id(session), session_id(next)) < 0))
			next = session;
	}
	return next;
}

static void on_session_files(void *data, const struct scan *scan)
{
	struct resource_page *page = data;
	cleanup_free char *id = xstrdup(page->id);
	char *next = NULL;

	page->waiting = false;
	if (scan != NULL && add_files(page, scan, &next)) {
		finish_page(page, next);
		return;
	}
	mem_cleanup(&page->after);
	list_session(page,
		     session_after(page, id)); /* the session has ended, or has no more files */
}

static void list_session(struct resource_page *page, struct session *session)
{
	for (; session != NULL; session = session_after(page, page->id)) {
		free(page->id);
		page->id = xstrdup(session_id(session));
		if (page->after == NULL)
			page->after = xstrdup("");
		if (page->after[0] == '\0' && json_array_size(page->resources) + 2 >= PAGE) {
			finish_page(page, make_cursor(page, NULL));
			return;
		}
		if (page->after[0] == '\0')
			add_session(page, session);
		if (!session_restoring(session)) {
			page->waiting = true;
			session_known_files(session, on_session_files, page);
			return;
		}
		mem_cleanup(&page->after); /* the files that are there are those of the replay */
	}
	finish_page(page, NULL);
}

static void on_list_cancel(struct mcp_call *call, void *data)
{
	struct resource_page *page = data;
	struct session *session = session_of(page, page->id);

	if (page->waiting && session != NULL)
		session_list_files_cancel(session, page);
	mcp_call_refuse(call, CODE_INVALID_PARAMS, "cancelled", NULL);
	page_free(page);
}

/* Returns false for a cursor that this server did not make. */
static bool read_cursor(struct resource_page *page, const char *cursor, struct session **ret_first)
{
	const char *slash = strchr(cursor, '/');
	cleanup_free char *id = slash == NULL ? NULL : xmemdup(cursor, (size_t)(slash - cursor));
	cleanup_free char *path =
		slash == NULL ? NULL : percent_decode(slash + 1, strlen(slash + 1));

	if (path == NULL || id[0] == '\0' ||
	    (path[0] != '\0' && strncmp(path, output, sizeof(output) - 1) != 0))
		return false;
	*ret_first = session_of(page, id);
	if (*ret_first != NULL)
		page->after = mem_steal(&path);
	else
		*ret_first = session_after(page, id);
	return true;
}

void resource_list(struct mcp_call *call, const char *cursor, void *context)
{
	struct resource_page *page = xcalloc(1, sizeof(*page));
	struct session *first;

	page->call = call;
	page->service = context;
	page->resources = json_array();
	page->left = PAGE_BYTES;
	first = session_after(page, NULL);
	if (cursor != NULL && !read_cursor(page, cursor, &first)) {
		mcp_call_refuse(call, CODE_INVALID_PARAMS, "unknown cursor", NULL);
		page_free(page);
		return;
	}
	if (cursor == NULL) {
		json_append(page->resources,
			    make_resource(RESOURCES_GUIDE, "guide", "text/markdown"));
		json_append(page->resources,
			    make_resource(RESOURCES_SESSIONS, "sessions", "application/json"));
	}
	mcp_call_on_cancel(call, on_list_cancel, page);
	list_session(page, first);
}
