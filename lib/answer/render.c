/* SPDX-License-Identifier: MIT */
/*
 * render.c - puts the blocks of an answer together, or the JSON object in their place.
 *
 * An answer is one line of the transport, so images, links and artifacts each have a budget. A JSON
 * answer lists all files of the session and therefore waits for a scan, in which the call can be
 * cancelled; it is then answered without the list.
 */
#include "answer/render.h"

#include <stdlib.h>

#include "answer/artifact.h"
#include "answer/cell_json.h"
#include "answer/explain.h"
#include "answer/history.h"
#include "answer/storage_links.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "json/make.h"
#include "json/write.h"
#include "mcp/server.h"
#include "session/session.h"
#include "text/base64.h"
#include "text/mime.h"
#include "text/sanitize.h"
#include "text/status_line.h"

/* ---- images and links ---- */

/* The images of one answer. */
struct shown_images {
	const struct cell_image *images[RENDER_IMAGES_MAX];
	size_t count;
	size_t left_out; /* others, which are stored in output/ */
};

/* Appends the images that fit; a later image may fit where an earlier one did not. */
static struct shown_images add_images(json_t *content, const struct cell *cell)
{
	struct shown_images shown = { .left_out = cell->images_dropped_saved };
	size_t bytes = 0;

	list_for_each (const struct cell_image, image, &cell->images, node) {
		size_t len = base64_encoded_len(image->len);

		if (image->shown)
			continue;
		if (shown.count == RENDER_IMAGES_MAX || bytes + len > RENDER_IMAGE_BASE64_MAX) {
			shown.left_out += image->file != NULL ? 1 : 0;
			continue;
		}
		json_append(content, mcp_image(image->data, image->len, image->mime));
		shown.images[shown.count++] = image;
		bytes += len;
	}
	return shown;
}

/* Programs keep notes in hidden files (.viminfo, .config/a): they are no news, but in output/. */
static bool is_hidden(const char *path)
{
	return strncmp(path, "output/", strlen("output/")) != 0 &&
	       (path[0] == '.' || strstr(path, "/.") != NULL);
}

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
		    is_hidden(change->file.path) || is_shown(shown, change->file.path))
			continue;
		json_append(content, make_link(result, &change->file));
		links++;
	}
}

/* ---- the status line ---- */

static void fill_changes(struct status *status, const struct cell *cell)
{
	static const char signs[] = {
		[CHANGE_NEW] = '+', [CHANGE_CHANGED] = '~', [CHANGE_DELETED] = '-'
	};
	struct status_change *changes = xcalloc(cell->change_count, sizeof(*changes));

	for (size_t i = 0; i < cell->change_count; i++) {
		const struct change *change = &cell->changes[i];

		if (!is_hidden(change->file.path))
			changes[status->change_count++] =
				(struct status_change){ .kind = signs[change->kind],
							.path = change->file.path,
							.size = change->file.size };
	}
	status->changes = changes;
}

static bool runs_cell(const struct session *session, const char *language)
{
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++)
		if (str_eq(runner_language(runner)->name, language))
			return runner_current(runner) != NULL || runner_queued(runner) > 0;
	return false;
}

/* Returns a call of interact, with the language where the session has several. */
static char *interact_call(const struct exec_result *result, const char *argument)
{
	bool several = session_runner(result->session, 1) != NULL;

	return xasprintf("interact {\"session_id\":\"%s\"%s%s%s,%s}", session_id(result->session),
			 several ? ",\"language\":\"" : "", several ? result->cell->language : "",
			 several ? "\"" : "", argument);
}

/* Returns the call that continues a cell which is not over, or NULL. */
static char *next_call(const struct exec_result *result)
{
	const struct cell *cell = result->cell;

	if (cell->session_ended)
		return NULL;
	if (cell->state == CELL_WAITING)
		return interact_call(result, "\"input\":\"...\"");
	if (cell_goes_on(cell) ||
	    (cell->state == CELL_NOT_STARTED && runs_cell(result->session, cell->language)))
		return interact_call(result, "\"action\":\"wait\"");
	return NULL;
}

static void build_status(struct buf *line, const struct exec_result *result,
			 const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;
	cleanup_free char *try_call = next_call(result);
	struct status status = {
		.id = session_id(result->session),
		.cell = cell->number,
		.state = cell_state_name(cell->state),
		.seconds = (double)cell->elapsed_us / 1e6,
		.has_exit_code = cell->has_exit_code,
		.exit_code = cell->exit_code,
		.names = cell->names,
		.output_shown = cell->text_shown,
		.output_total = cell->text_total,
		.output_path = cell->spool_path,
		.output_cut = cell->spool_cut,
		.background_chars = cell->background,
		.children = cell->children,
		.unconfined = facts->tier == POLICY_UNCONFINED,
		.saved = result->saved,
		.saving = result->saving,
		.try_call = try_call,
	};

	fill_changes(&status, cell);
	status_write(line, &status);
	free((void *)(uintptr_t)status.changes);
}

/* ---- the answer ---- */

static json_t *make_meta(const struct history *history, const struct exec_result *result)
{
	json_t *wrapped = json_object();
	json_t *record = result->ended ? history_record(history, result) : cell_json_make(result);

	json_put(wrapped, "ptycell/cell", record);
	return wrapped;
}

static void add_storage_links(json_t *content, const struct exec_result *result)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	storage_links_explain(&text, result);
	if (text.len > 0)
		json_append(content, mcp_text(text.data, text.len));
}

static void add_earlier(json_t *content, const struct exec_result *result,
			const struct confinement_facts *facts)
{
	for (size_t i = 0; i < result->earlier_count; i++) {
		cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

		explain_earlier(&text, &result->earlier[i], facts);
		json_append(content, mcp_text(text.data, text.len));
		(void)add_images(content, result->earlier[i].cell);
	}
}

static void finish_blocks(struct mcp_call *call, const struct history *history,
			  const struct exec_result *result, const struct confinement_facts *facts)
{
	json_t *content = json_array();
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf status = BUF_INIT(BUF_UNBOUNDED);
	struct shown_images shown;

	if (result->notice != NULL)
		json_append(content, mcp_text(result->notice, strlen(result->notice)));
	add_earlier(content, result, facts);
	explain_text(&text, result, facts);
	if (text.len > 0)
		json_append(content, mcp_text(text.data, text.len));
	shown = add_images(content, result->cell);
	if (shown.left_out > 0) {
		cleanup_free char *note =
			xasprintf("%zu of %zu figures are shown; all are saved in output/.",
				  shown.count, shown.count + shown.left_out);

		json_append(content, mcp_text(note, strlen(note)));
	}
	if (mcp_call_revision(call) >= MCP_2025_06_18)
		add_links(content, result, &shown);
	add_storage_links(content, result);
	build_status(&status, result, facts);
	json_append(content, mcp_text(buf_str(&status), status.len));
	mcp_call_finish(call, content, NULL, make_meta(history, result),
			explain_is_error(result->cell));
}

/* ---- RESULTS_JSON ---- */

struct json_answer {
	struct mcp_call *call;
	json_t *object;
	json_t *images;
	struct session *session;
};

static void send_json(struct json_answer *answer)
{
	json_t *content = json_array();
	cleanup_free char *text = json_write_text(answer->object);

	json_append(content, mcp_text(text, strlen(text)));
	(void)json_array_extend(content, answer->images);
	json_decref(answer->images);
	json_decref(answer->object);
	mcp_call_finish(answer->call, content, NULL, NULL, false);
	free(answer);
}

static void on_json_cancel(struct mcp_call *call, void *data)
{
	struct json_answer *answer = data;

	(void)call;
	session_list_files_cancel(answer->session, answer);
	send_json(answer);
}

static void put_left_out(json_t *object, const char *key, size_t count)
{
	if (count > 0)
		json_put_int(object, key, (json_int_t)count);
}

static void on_all_files(void *data, const struct scan *scan)
{
	struct json_answer *answer = data;
	json_t *all = json_array();
	size_t count = 0;
	size_t left = RENDER_ARTIFACTS_BYTES_MAX;
	size_t left_out = 0;
	const struct file_info *files = scan != NULL ? scan_files(scan, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		json_t *artifact;

		if (files[i].is_link)
			continue;
		artifact = artifact_describe(answer->session, &files[i], &left);
		if (artifact != NULL)
			json_append(all, artifact);
		else
			left_out++;
	}
	json_put(answer->object, "all_artifacts", all);
	put_left_out(answer->object, "all_artifacts_left_out", left_out);
	send_json(answer);
}

/* Returns the word of `status`, which frameworks look at before anything else. */
static const char *status_word(const struct cell *cell)
{
	if (explain_is_error(cell))
		return "error";
	return cell_goes_on(cell) ? cell_state_name(cell->state) : "success";
}

static void finish_json(struct mcp_call *call, const struct exec_result *result,
			const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;
	struct json_answer *answer = xcalloc(1, sizeof(*answer));
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf status = BUF_INIT(BUF_UNBOUNDED);
	size_t left_out = 0;

	for (size_t i = 0; i < result->earlier_count; i++)
		explain_earlier(&text, &result->earlier[i], facts);
	explain_text(&text, result, facts);
	build_status(&status, result, facts);
	answer->call = call;
	answer->session = result->session;
	answer->images = json_array();
	answer->object = cell_json_make(result);
	(void)add_images(answer->images, cell);
	json_put_str(answer->object, "status", status_word(cell));
	json_put(answer->object, "output", json_make_text(buf_str(&text), text.len));
	json_put(answer->object, "new_artifacts",
		 cell_json_artifacts(result, RENDER_ARTIFACTS_BYTES_MAX, &left_out));
	put_left_out(answer->object, "new_artifacts_left_out", left_out);
	storage_links_put_news(answer->object, result);
	json_put_str(answer->object, "notice", result->notice);
	json_put_str(answer->object, "status_line", buf_str(&status));
	if (explain_is_error(cell))
		json_put(answer->object, "error", cell_json_error(cell));
	mcp_call_on_cancel(call, on_json_cancel, answer);
	session_list_files(result->session, on_all_files, answer);
}

void render_finish(struct mcp_call *call, enum settings_results results,
		   const struct history *history, const struct exec_result *result)
{
	const struct confinement_facts facts =
		confinement_facts(session_confinement(result->session));

	if (results == RESULTS_JSON)
		finish_json(call, result, &facts);
	else
		finish_blocks(call, history, result, &facts);
}
