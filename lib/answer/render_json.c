/* SPDX-License-Identifier: MIT */
/*
 * render_json.c - puts an answer into one JSON object.
 *
 * It lists all files of the session and therefore waits for a scan, in which the call can be
 * cancelled; it is then answered without the list.
 */
#include "answer/render_json.h"

#include <stdlib.h>

#include "answer/artifact.h"
#include "answer/cell_json.h"
#include "answer/media.h"
#include "answer/storage_links.h"
#include "answer/wording.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/write.h"
#include "mcp/server.h"
#include "session/session.h"

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
static const char *status_word(const struct cell *cell, bool is_error)
{
	if (is_error)
		return "error";
	return cell_goes_on(cell) ? cell_state_name(cell->state) : "success";
}

/* Puts the texts of earlier cells and of this one together: the object has one text. */
static json_t *make_output(const struct wording *wording)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < wording->earlier_count; i++) {
		buf_put(&text, buf_str(&wording->earlier[i]), wording->earlier[i].len);
		if (text.len > 0 && text.data[text.len - 1] != '\n')
			buf_put_char(&text, '\n');
	}
	buf_put(&text, buf_str(&wording->text), wording->text.len);
	return json_make_text(buf_str(&text), text.len);
}

void render_json_finish(struct mcp_call *call, const struct wording *wording,
			const struct exec_result *result)
{
	const struct cell *cell = result->cell;
	struct json_answer *answer = xcalloc(1, sizeof(*answer));
	size_t left_out = 0;

	answer->call = call;
	answer->session = result->session;
	answer->images = json_array();
	answer->object = cell_json_make(result);
	media_add(answer->images, cell);
	json_put_str(answer->object, "status", status_word(cell, wording->is_error));
	json_put(answer->object, "output", make_output(wording));
	json_put(answer->object, "new_artifacts",
		 cell_json_artifacts(result, RENDER_ARTIFACTS_BYTES_MAX, &left_out));
	put_left_out(answer->object, "new_artifacts_left_out", left_out);
	storage_links_put_news(answer->object, result);
	json_put_str(answer->object, "notice", result->notice);
	json_put_str(answer->object, "status_line", buf_str(&wording->status));
	if (wording->is_error)
		json_put(answer->object, "error", cell_json_error(cell));
	mcp_call_on_cancel(call, on_json_cancel, answer);
	session_list_files(result->session, on_all_files, answer);
}
