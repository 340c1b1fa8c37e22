/* SPDX-License-Identifier: MIT */
/*
 * cell_json.c - makes the record of a cell. Texts of session code are cleaned and cut, so that the
 * record has at most CELL_JSON_BYTES_MAX bytes, with any names and files.
 */
#include "answer/cell_json.h"

#include "answer/artifact.h"
#include "base/mem.h"
#include "json/make.h"
#include "session/session.h"
#include "text/name_lines.h"
#include "text/sanitize.h"

enum { ERROR_CHARS_MAX = 1000 };

static json_t *clean_text(const char *text, size_t max_chars)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&out, text, strlen(text), max_chars);
	return json_make_text(buf_str(&out), out.len);
}

static void put_clean(json_t *object, const char *key, const char *text, size_t max_chars)
{
	if (text != NULL)
		json_put(object, key, clean_text(text, max_chars));
}

static json_t *take_word(const char **line)
{
	size_t len = strcspn(*line, " \n");
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	sanitize_word(&out, *line, len, SANITIZE_QUOTE_MAX);
	*line += len;
	if (**line == ' ')
		(*line)++;
	return json_make_text(buf_str(&out), out.len);
}

static void put_name(json_t *object, const char **lines, bool *ret_gone)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	*lines = name_lines_name(&name, *lines, *lines + strcspn(*lines, "\n"), ret_gone);
	sanitize_symbol(&out, buf_str(&name), name.len);
	json_put(object, "name",
		 out.len <= CELL_JSON_PATH_MAX ? json_make_text(buf_str(&out), out.len)
					       : clean_text(buf_str(&name), SANITIZE_QUOTE_MAX));
}

json_t *cell_json_names(const char *lines)
{
	json_t *names = json_array();

	while (lines != NULL && *lines != '\0' && json_array_size(names) < CELL_JSON_NAMES_MAX) {
		json_t *name = json_object();
		bool gone;

		put_name(name, &lines, &gone);
		if (gone)
			json_put_bool(name, "gone", true);
		if (*lines != '\n' && *lines != '\0')
			json_put(name, "type", take_word(&lines));
		if (*lines != '\n' && *lines != '\0')
			json_put(name, "shape", take_word(&lines));
		json_append(names, name);
		lines += strcspn(lines, "\n");
		if (*lines == '\n')
			lines++;
	}
	return names;
}

json_t *cell_json_artifacts(const struct exec_result *result, size_t max_bytes,
			    size_t *ret_left_out)
{
	json_t *artifacts = json_array();
	size_t left = max_bytes;

	for (size_t i = 0; i < result->cell->change_count; i++) {
		const struct change *change = &result->cell->changes[i];
		json_t *artifact;

		if (change->kind == CHANGE_DELETED || change->file.is_link)
			continue;
		artifact = artifact_describe(result->session, &change->file, &left);
		if (artifact != NULL)
			json_append(artifacts, artifact);
		else
			(*ret_left_out)++;
	}
	return artifacts;
}

static json_t *make_changes(const struct cell *cell)
{
	static const char *const kinds[] = {
		[CHANGE_NEW] = "new", [CHANGE_CHANGED] = "changed", [CHANGE_DELETED] = "deleted"
	};
	json_t *changes = json_array();

	for (size_t i = 0; i < size_min(cell->change_count, CELL_JSON_CHANGES_MAX); i++) {
		const struct change *change = &cell->changes[i];
		cleanup_free char *path = sanitize_path_string(change->file.path);
		json_t *object = json_object();

		json_put_str(object, "change", kinds[change->kind]);
		json_put(object, "path",
			 strlen(path) <= CELL_JSON_PATH_MAX ? json_make_str(path)
							    : clean_text(path, CELL_JSON_PATH_MAX));
		json_put_int(object, "size_bytes", (json_int_t)change->file.size);
		json_append(changes, object);
	}
	return changes;
}

static void put_wait(json_t *record, const struct runner_wait *wait)
{
	static const char *const who[] = {
		[WAITER_INTERPRETER] = "interpreter",
		[WAITER_DEBUGGER] = "debugger",
		[WAITER_PROGRAM] = "program",
	};

	put_clean(record, "prompt", wait->prompt, SANITIZE_QUOTE_MAX);
	json_put_str(record, "waits", who[wait->who]);
	if (wait->who == WAITER_PROGRAM)
		put_clean(record, "program", wait->program, SANITIZE_QUOTE_MAX);
	json_put_bool(record, "secret", wait->secret);
	if (wait->kind == WAIT_GUESSED)
		json_put_bool(record, "guessed", true);
}

static void put_end(json_t *record, const struct cell *cell)
{
	if (cell->has_exit_code)
		json_put_int(record, "exit_code", cell->exit_code);
	if (cell->signal != 0)
		json_put_int(record, "signal", cell->signal);
	if (cell->children > 0)
		json_put_int(record, "children", cell->children);
	if (cell->interpreter_lost)
		json_put_bool(record, "state_lost", true);
	if (cell->wait != NULL)
		put_wait(record, cell->wait);
	put_clean(record, "error_name", cell->error_name, SANITIZE_QUOTE_MAX);
	put_clean(record, "error_text", cell->error_text, ERROR_CHARS_MAX);
	put_clean(record, "problem", cell->problem, 500);
}

json_t *cell_json_error(const struct cell *cell)
{
	cleanup_free char *text = NULL;

	if (cell->error_name == NULL && cell->problem != NULL)
		return clean_text(cell->problem, ERROR_CHARS_MAX);
	if (cell->error_name == NULL)
		return json_make_str(cell_state_name(cell->state));
	text = cell->error_text != NULL && cell->error_text[0] != '\0'
		       ? xasprintf("%s: %s", cell->error_name, cell->error_text)
		       : xstrdup(cell->error_name);
	return clean_text(text, ERROR_CHARS_MAX);
}

json_t *cell_json_make(const struct exec_result *result)
{
	const struct cell *cell = result->cell;
	json_t *record = json_object();

	json_put_str(record, "session_id", session_id(result->session));
	json_put_int(record, "generation", (json_int_t)session_generation(result->session));
	json_put_int(record, "cell", (json_int_t)cell->number);
	json_put_str(record, "state", cell_state_name(cell->state));
	json_put_real(record, "seconds", (double)cell->elapsed_us / 1e6);
	put_end(record, cell);
	json_put_int(record, "output_shown", (json_int_t)cell->text_shown);
	json_put_int(record, "output_chars", (json_int_t)cell->text_total);
	json_put_str(record, "output_path", cell->spool_path);
	if (cell->spool_cut)
		json_put(record, "output_cut", json_true());
	if (cell->background > 0)
		json_put_int(record, "background_chars", (json_int_t)cell->background);
	if (cell->names != NULL)
		json_put(record, "names", cell_json_names(cell->names));
	json_put_str(record, "cwd", cell->cwd);
	if (cell->change_count > 0)
		json_put(record, "files", make_changes(cell));
	json_put_str(record, result->saving ? "saving" : "saved", result->saved);
	return record;
}
