/* SPDX-License-Identifier: MIT */
/* resource_list.c - resources/list: sessions, their notebooks and what lies in their output/. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "json/make.h"
#include "session/table.h"
#include "text/clean.h"
#include "text/mime.h"
#include "tools/resource.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/scan.h"

enum {
	CODE_INVALID_PARAMS = -32602, /* JSON-RPC 2.0 */
	PAGE = 200,
	PAGE_BYTES = 800000, /* an answer is one line of less than 1,000,000 */
	FILE_COST = 200,     /* bytes of a file in it, its path aside */
	/* And of each byte of the path, which is there as a name and in the uri, escaped. */
	FILE_PATH_COST = 9,
};

static const char output[] = "output/";

/* A page being made. A cursor is ID:N, the session and how many of its files came before. */
struct resource_page {
	struct mcp_call *call;
	struct service *service;
	json_t *resources;
	size_t left;  /* bytes */
	char *id;     /* of the session that is looked at; NULL before the first */
	size_t from;  /* of its files */
	bool waiting; /* for them */
};

static void look_at(struct resource_page *page, struct session *session);

static void page_free(struct resource_page *page)
{
	json_decref(page->resources);
	free(page->id);
	free(page);
}

static void finish(struct resource_page *page, char *next_own)
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

/* False when the page has no room for it. */
static bool add_file(struct resource_page *page, const struct file_info *file)
{
	size_t cost = FILE_COST + FILE_PATH_COST * strlen(file->path);
	cleanup_free char *uri = tool_file_uri(page->id, file->path);
	cleanup_free char *name = clean_path_string(file->path);
	json_t *resource;

	if (json_array_size(page->resources) >= PAGE || cost > page->left)
		return false;
	page->left -= cost;
	resource = make_resource(uri, name, mime_of_name(file->path));
	json_put_int(resource, "size", (json_int_t)file->size);
	json_append(page->resources, resource);
	return true;
}

/* True when the page is full. */
static bool add_files(struct resource_page *page, const struct scan *scan, size_t *ret_next)
{
	size_t count;
	const struct file_info *files = scan_files(scan, &count);
	size_t matching = 0;

	for (size_t i = 0; i < count; i++) {
		if (files[i].is_link || strncmp(files[i].path, output, sizeof(output) - 1) != 0)
			continue;
		if (matching++ < page->from)
			continue;
		if (!add_file(page, &files[i])) {
			*ret_next = matching - 1;
			return true;
		}
	}
	return false;
}

/* Where in the table; its end when there is no such session. */
static size_t find_session(const struct resource_page *page, const char *id, size_t len)
{
	const struct table *table = service_table_if_any(page->service);
	size_t i = 0;

	for (; table != NULL && table_at(table, i) != NULL; i++) {
		const char *found = session_id(table_at(table, i));

		if (strlen(found) == len && strncmp(found, id, len) == 0)
			break;
	}
	return i;
}

static struct session *session_at(const struct resource_page *page, size_t index)
{
	const struct table *table = service_table_if_any(page->service);

	return table != NULL ? table_at(table, index) : NULL;
}

static void on_files(void *data, const struct scan *scan)
{
	struct resource_page *page = data;
	size_t next = 0;

	page->waiting = false;
	if (scan == NULL) /* the session ended: whoever asks again gets a list without it */
		finish(page, NULL);
	else if (add_files(page, scan, &next))
		finish(page, xasprintf("%s:%zu", page->id, next));
	else
		look_at(page, session_at(page, find_session(page, page->id, strlen(page->id)) + 1));
}

static void look_at(struct resource_page *page, struct session *session)
{
	if (session == NULL) {
		finish(page, NULL);
		return;
	}
	if (page->id != NULL && !str_eq(page->id, session_id(session)))
		page->from = 0;
	free(page->id);
	page->id = xstrdup(session_id(session));
	if (page->from == 0 && json_array_size(page->resources) + 2 >= PAGE) {
		finish(page, xasprintf("%s:0", page->id));
		return;
	}
	if (page->from == 0)
		add_session(page, session);
	page->waiting = true;
	session_known_files(session, on_files, page);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct resource_page *page = data;
	struct session *session = session_at(page, find_session(page, page->id, strlen(page->id)));

	if (page->waiting && session != NULL)
		session_list_files_cancel(session, page);
	mcp_call_refuse(call, CODE_INVALID_PARAMS, "cancelled", NULL);
	page_free(page);
}

/* The session that it begins with; NULL for a cursor that is none of ours. */
static struct session *read_cursor(struct resource_page *page, const char *cursor)
{
	const char *colon = strrchr(cursor, ':');
	char *end;

	if (colon == NULL || colon[1] < '0' || colon[1] > '9')
		return NULL;
	page->from = strtoul(colon + 1, &end, 10);
	if (*end != '\0' || page->from > SCAN_FILES_MAX)
		return NULL;
	return session_at(page, find_session(page, cursor, (size_t)(colon - cursor)));
}

void resource_list(struct mcp_call *call, const char *cursor, void *context)
{
	struct resource_page *page = xcalloc(1, sizeof(*page));
	struct session *first;

	page->call = call;
	page->service = context;
	page->resources = json_array();
	page->left = PAGE_BYTES;
	first = cursor != NULL ? read_cursor(page, cursor) : session_at(page, 0);
	if (cursor != NULL && first == NULL) {
		mcp_call_refuse(call, CODE_INVALID_PARAMS, "unknown cursor", NULL);
		page_free(page);
		return;
	}
	if (cursor == NULL) {
		json_append(page->resources,
			    make_resource(RESOURCE_GUIDE, "guide", "text/markdown"));
		json_append(page->resources,
			    make_resource(RESOURCE_SESSIONS, "sessions", "application/json"));
	}
	mcp_call_on_cancel(call, on_cancel, page);
	look_at(page, first);
}
