/* SPDX-License-Identifier: MIT */
/*
 * render.c - puts the blocks of an answer together.
 *
 * The texts are ready (wording.h). An answer is one line of the transport, so links have a limit as
 * images have (media.h).
 */
#include "answer/render.h"

#include <inttypes.h>
#include <string.h>

#include "answer/artifact.h"
#include "answer/media.h"
#include "answer/wording.h"
#include "base/mem.h"
#include "json/make.h"
#include "mcp/server.h"
#include "session/session.h"
#include "text/mime.h"
#include "text/sanitize.h"

/* Returns whether the answer has the file as an image. */
static bool is_shown(const struct shown_images *shown, const char *path)
{
	static const char folder[] = "output/";

	if (strncmp(path, folder, strlen(folder)) != 0)
		return false;
	for (size_t i = 0; i < shown->count; i++)
		if (shown->images[i]->file != NULL &&
		    str_eq(shown->images[i]->file, path + strlen(folder)))
			return true;
	return false;
}

/* Makes a link for the host: the user may open it, the model reads the file's name elsewhere. */
static json_t *make_link(const struct exec_result *result, const struct file_info *file)
{
	cleanup_free char *uri = artifact_uri(session_id(result->session), file->path,
					      session_settings(result->session)->redact);
	cleanup_free char *name = sanitize_path_string(file->path);
	json_t *link =
		mcp_resource_link(uri, name, mime_of_name(file->path), (json_int_t)file->size);
	json_t *annotations = json_object();
	json_t *audience = json_array();

	json_append(audience, json_make_str("user"));
	json_put(annotations, "audience", audience);
	json_put(link, "annotations", annotations);
	return link;
}

/* Appends links to the changed files that the answer does not show as images. */
static void add_links(json_t *content, const struct exec_result *result,
		      const struct shown_images *shown)
{
	const struct cell *cell = result->cell;
	size_t links = 0;

	if (cell->session_ended)
		return; /* its resources are gone */
	for (size_t i = 0; i < cell->change_count && links < RENDER_LINKS_MAX; i++) {
		const struct change *change = &cell->changes[i];

		if (change->kind == CHANGE_DELETED || change->file.is_link ||
		    artifact_is_hidden(change->file.path) || is_shown(shown, change->file.path))
			continue;
		json_append(content, make_link(result, &change->file));
		links++;
	}
}

/* Counts the pictures that drivers saved for the cell: more than they name may be there. */
static size_t count_saved_figures(const struct cell *cell)
{
	cleanup_free char *prefix = xasprintf("output/cell-%" PRIu64 "-figure-", cell->number);
	size_t count = 0;

	for (size_t i = 0; i < cell->change_count; i++)
		count += strncmp(cell->changes[i].file.path, prefix, strlen(prefix)) == 0 &&
			 strncmp(mime_of_name(cell->changes[i].file.path), "image/", 6) == 0;
	return count;
}

static void add_count(json_t *content, const struct exec_result *result,
		      const struct shown_images *shown)
{
	size_t sent = shown->count + shown->left_out;
	size_t saved = count_saved_figures(result->cell);
	cleanup_free char *note = NULL;

	if (shown->left_out == 0)
		return;
	note = xasprintf("%zu of %zu figures are shown; all are saved in output/.", shown->count,
			 sent > saved ? sent : saved);
	json_append(content, mcp_text(note, strlen(note)));
}

static void add_text(json_t *content, const struct buf *text)
{
	if (text->len > 0)
		json_append(content, mcp_text(text->data, text->len));
}

void render_finish(struct mcp_call *call, const struct wording *wording, json_t *record_own,
		   const struct exec_result *result)
{
	json_t *content = json_array();
	json_t *meta = json_object();
	struct shown_images shown;

	if (result->notice != NULL)
		json_append(content, mcp_text(result->notice, strlen(result->notice)));
	for (size_t i = 0; i < result->earlier_count; i++) {
		add_text(content, &wording->earlier[i]);
		media_add(content, result->earlier[i].cell);
	}
	add_text(content, &wording->text);
	shown = media_add_images(content, result->cell);
	media_add_sounds(content, result->cell, shown.bytes);
	add_count(content, result, &shown);
	if (mcp_call_revision(call) >= MCP_2025_06_18)
		add_links(content, result, &shown);
	add_text(content, &wording->links);
	add_text(content, &wording->status);
	json_put(meta, "ptycell/cell", record_own);
	mcp_call_finish(call, content, NULL, meta, wording->is_error);
}
