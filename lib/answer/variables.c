/* SPDX-License-Identifier: MIT */
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
	FIELD_BYTES_MAX =
		4096,        /* looked at, of each field: shown are SANITIZE_QUOTE_MAX characters */
	FIELD_CUT_MIN = 200, /* characters that a driver tells of a value */
};

/* One interpreter's share. */
struct ask {
	struct variables *variables;
	const char *language; /* static */
	struct query *query;  /* NULL once answered */
	unsigned limit;
	json_t *told; /* NULL: a problem */
	uint64_t left_out;
};

struct variables {
	json_t *answer; /* borrowed */
	void (*done)(void *data);
	void *data;
	const struct redact *redact; /* or NULL */
	struct loop_defer nobody;    /* there is no interpreter to ask */
	struct buf problems;
	size_t waiting;
	size_t count;
	struct ask asks[];
};

/* ---- a driver's lines ---- */

/* A secret goes before it is cut further, and what a driver's cut left of one. */
static char *without_secrets(const struct redact *redact, struct buf *plain)
{
	bool is_cut = plain->len >= FIELD_CUT_MIN;
	char *text = buf_steal(plain);

	(is_cut ? redact_cut_string : redact_string)(redact, &text);
	return text;
}

/* One tab-separated field, cleaned; moves past the tab. NULL when it is empty and no name. */
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
	json_t *told = json_array();
	const char *end = lines + len;

	*ret_left_out = 0;
	while (lines < end) {
		const char *newline = memchr(lines, '\n', (size_t)(end - lines));
		const char *line_end = newline != NULL ? newline : end;

		if (json_array_size(told) < max)
			json_append(told, take_variable(language, lines, line_end, redact));
		else
			(*ret_left_out)++;
		lines = line_end + (newline != NULL ? 1 : 0);
	}
	return told;
}

/* ---- asking ---- */

static void variables_free(struct variables *v)
{
	for (size_t i = 0; i < v->count; i++)
		json_decref(v->asks[i].told);
	loop_defer_stop(&v->nobody);
	buf_release(&v->problems);
	free(v);
}

static void finish(struct variables *v)
{
	void (*done)(void *data) = v->done;
	void *data = v->data;
	json_t *all = json_array();
	uint64_t left_out = 0;

	for (size_t i = 0; i < v->count; i++) {
		if (v->asks[i].told == NULL)
			continue;
		(void)json_array_extend(all, v->asks[i].told);
		left_out += v->asks[i].left_out;
	}
	json_put(v->answer, "variables", all);
	if (left_out > 0)
		json_put_int(v->answer, "variables_left_out", (json_int_t)(left_out & INT64_MAX));
	if (v->problems.len > 0)
		json_put_str(v->answer, "variables_problem", buf_str(&v->problems));
	variables_free(v);
	done(data);
}

static void on_answer(const struct query_answer *answer, void *data)
{
	struct ask *ask = data;
	struct variables *v = ask->variables;
	size_t cut = 0;

	ask->query = NULL;
	if (answer->problem != NULL) {
		buf_putf(&v->problems, "%s%s: %s", v->problems.len > 0 ? "; " : "", ask->language,
			 answer->problem);
	} else {
		size_t told;

		ask->told = variables_parse(ask->language, answer->lines, answer->len, ask->limit,
					    v->redact, &cut);
		told = json_array_size(ask->told);
		ask->left_out = answer->total > told ? answer->total - told : cut;
	}
	if (--v->waiting == 0)
		finish(v);
}

static void on_nobody(struct loop_defer *defer)
{
	finish(container_of(defer, struct variables, nobody));
}

struct variables *variables_ask(struct loop *loop, struct session *session,
				const struct redact *redact, json_t *answer,
				void (*done)(void *data), void *data)
{
	struct variables *v;
	size_t count = 0;

	while (session_runner(session, count) != NULL)
		count++;
	v = xcalloc(1, sizeof(*v) + count * sizeof(v->asks[0]));
	v->redact = redact;
	v->answer = answer;
	v->done = done;
	v->data = data;
	v->count = count;
	v->waiting = count;
	buf_init(&v->problems, BUF_UNBOUNDED);
	for (size_t i = 0; i < count; i++) {
		struct ask *ask = &v->asks[i];

		ask->variables = v;
		ask->language = runner_language(session_runner(session, i))->name;
		ask->limit = VARIABLES_MAX / (unsigned)count;
		ask->query = session_query_variables(session, i, ask->limit, on_answer, ask);
	}
	if (count == 0)
		loop_defer_start(loop, &v->nobody, on_nobody);
	return v;
}

void variables_cancel(struct variables *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->asks[i].query != NULL)
			runner_query_cancel(v->asks[i].query);
	variables_free(v);
}
