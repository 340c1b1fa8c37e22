/* SPDX-License-Identifier: MIT */
/*
 * variables.c - asks the drivers of a session for their variables, and cleans the replies.
 *
 * Secrets are taken out of a field before it is cut: a cut would leave the start of one. A field at
 * the driver's own maximum may end within a secret already, so its end is searched for a part.
 */
#include "answer/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/loop.h"
#include "json/make.h"
#include "redact/redact.h"
#include "session/session.h"
#include "text/name_lines.h"
#include "text/sanitize.h"

enum {
	FIELD_BYTES_MAX = 4096, /* read of each field; SANITIZE_QUOTE_MAX characters are shown */
	FIELD_CUT_MIN = 200,    /* a field of this length may have been cut by the driver */
};

struct interpreter_query {
	struct variables *variables;
	const char *language;       /* static */
	struct runner_query *query; /* NULL once answered */
	unsigned limit;
	json_t *list; /* NULL: none yet, or a problem */
	uint64_t left_out;
};

struct variables {
	json_t *answer; /* borrowed */
	void (*done)(void *data);
	void *data;
	const struct redact *redact;      /* or NULL */
	struct loop_defer no_interpreter; /* calls `done` when no interpreter runs */
	struct buf problems;
	size_t waiting;
	size_t count;
	struct interpreter_query queries[];
};

/* ---- a driver's lines ---- */

/* Takes out the secrets, and a part of one at the end of a field that the driver has cut. */
static char *without_secrets(const struct redact *redact, struct buf *plain)
{
	bool is_cut = plain->len >= FIELD_CUT_MIN;
	char *text = buf_steal(plain);

	(is_cut ? redact_cut_string : redact_string)(redact, &text);
	return text;
}

/* Returns a tab-separated field, cleaned, and moves *line past it. Returns NULL if it is empty. */
static json_t *take_field(const char **line, const char *end, bool is_name,
			  const struct redact *redact)
{
	const char *tab = memchr(*line, '\t', (size_t)(end - *line));
	size_t len = (size_t)((tab != NULL ? tab : end) - *line);
	cleanup_buf struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *text = NULL;

	name_lines_field(&plain, *line, size_min(len, FIELD_BYTES_MAX));
	text = without_secrets(redact, &plain);
	if (is_name)
		sanitize_symbol(&out, text, strlen(text));
	else
		sanitize_line(&out, text, strlen(text), SANITIZE_QUOTE_MAX);
	*line = tab != NULL ? tab + 1 : end;
	return out.len > 0 ? json_make_text(buf_str(&out), out.len) : NULL;
}

static json_t *take_variable(const char *language, const char *line, const char *end,
			     const struct redact *redact)
{
	static const char *const keys[] = { "name", "type", "shape", "bytes", "value" };
	json_t *variable = json_object();

	json_put_str(variable, "language", language);
	for (size_t i = 0; i < ARRAY_SIZE(keys) && line < end; i++) {
		json_t *field = take_field(&line, end, i == 0, redact);

		if (field != NULL)
			json_put(variable, keys[i], field);
	}
	return variable;
}

json_t *variables_parse(const char *language, const char *lines, size_t len, size_t max,
			const struct redact *redact, size_t *ret_left_out)
{
	json_t *list = json_array();
	const char *end = lines + len;

	*ret_left_out = 0;
	while (lines < end) {
		const char *newline = memchr(lines, '\n', (size_t)(end - lines));
		const char *line_end = newline != NULL ? newline : end;

		if (json_array_size(list) < max)
			json_append(list, take_variable(language, lines, line_end, redact));
		else
			(*ret_left_out)++;
		lines = line_end + (newline != NULL ? 1 : 0);
	}
	return list;
}

/* ---- asking ---- */

static void variables_free(struct variables *v)
{
	for (size_t i = 0; i < v->count; i++)
		json_decref(v->queries[i].list);
	loop_defer_stop(&v->no_interpreter);
	buf_release(&v->problems);
	free(v);
}

static void finish_variables(struct variables *v)
{
	void (*done)(void *data) = v->done;
	void *data = v->data;
	json_t *all = json_array();
	uint64_t left_out = 0;

	for (size_t i = 0; i < v->count; i++) {
		if (v->queries[i].list == NULL)
			continue;
		(void)json_array_extend(all, v->queries[i].list);
		left_out += v->queries[i].left_out;
	}
	json_put(v->answer, "variables", all);
	if (left_out > 0)
		json_put_int(v->answer, "variables_left_out", (json_int_t)(left_out & INT64_MAX));
	if (v->problems.len > 0)
		json_put_str(v->answer, "variables_problem", buf_str(&v->problems));
	variables_free(v);
	done(data);
}

static void on_variables(const struct query_answer *answer, void *data)
{
	struct interpreter_query *interpreter_query = data;
	struct variables *v = interpreter_query->variables;
	size_t cut = 0;

	interpreter_query->query = NULL;
	if (answer->problem != NULL) {
		buf_putf(&v->problems, "%s%s: %s", v->problems.len > 0 ? "; " : "",
			 interpreter_query->language, answer->problem);
	} else {
		size_t list;

		interpreter_query->list =
			variables_parse(interpreter_query->language, answer->lines, answer->len,
					interpreter_query->limit, v->redact, &cut);
		list = json_array_size(interpreter_query->list);
		interpreter_query->left_out = answer->total > list ? answer->total - list : cut;
	}
	if (--v->waiting == 0)
		finish_variables(v);
}

static void on_no_interpreter(struct loop_defer *defer)
{
	finish_variables(container_of(defer, struct variables, no_interpreter));
}

struct variables *variables_ask(struct loop *loop, struct session *session,
				const struct redact *redact, json_t *answer,
				void (*done)(void *data), void *data)
{
	struct variables *v;
	size_t count = 0;

	while (session_runner(session, count) != NULL)
		count++;
	v = xcalloc(1, sizeof(*v) + count * sizeof(v->queries[0]));
	v->redact = redact;
	v->answer = answer;
	v->done = done;
	v->data = data;
	v->count = count;
	v->waiting = count;
	buf_init(&v->problems, BUF_UNBOUNDED);
	for (size_t i = 0; i < count; i++) {
		struct interpreter_query *interpreter_query = &v->queries[i];

		interpreter_query->variables = v;
		interpreter_query->language = runner_language(session_runner(session, i))->name;
		interpreter_query->limit = VARIABLES_MAX / (unsigned)count;
		interpreter_query->query = session_query_variables(
			session, i, interpreter_query->limit, on_variables, interpreter_query);
	}
	if (count == 0)
		loop_defer_start(loop, &v->no_interpreter, on_no_interpreter);
	return v;
}

void variables_cancel(struct variables *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->queries[i].query != NULL)
			runner_query_cancel(v->queries[i].query);
	variables_free(v);
}
