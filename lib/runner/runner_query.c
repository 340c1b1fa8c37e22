/* SPDX-License-Identifier: MIT */
/*
 * runner_query.c - questions to a driver between cells, and the one that a driver may ask: to
 * install packages. The reply to that goes by a pipe of its own, because the driver does not read
 * frames while a cell runs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "runner/runner_internal.h"

enum { TOLD_MAX = 4000, TOLD_LINE_END = 0x1e };

static void on_query_timeout(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, query_timer);

	runner_end_query(r, NULL, "the interpreter did not answer in time");
}

/* Answers a query that was refused without asking the interpreter. */
static void on_query_refused(struct loop_defer *defer)
{
	struct runner_query *query = container_of(defer, struct runner_query, refused);

	const struct query_answer answer = { .problem = query->problem };

	query->done(&answer, query->data);
	free(query);
}

/* A query frame with one part. */
struct question {
	const char *type;
	const char *part;
	const char *text;
};

static struct runner_query *ask(struct runner *r, const struct question *question,
				query_done_fn *done, void *data)
{
	struct runner_query *query = xcalloc(1, sizeof(*query));

	query->done = done;
	query->data = data;
	if (r->state != RUNNER_READY || r->held || r->query != NULL || !list_empty(&r->queue)) {
		query->problem =
			r->state == RUNNER_IDLE
				? "the interpreter does not run: there are no names"
				: "the interpreter is busy; ask again when the cell has ended";
		loop_defer_start(r->c.loop, &query->refused, on_query_refused);
		return query;
	}
	query->runner = r;
	r->query = query;
	query->id = QUERY_FIRST_ID + r->query_count++;
	frame_begin(&r->to_driver, question->type, query->id, 1);
	frame_add(&r->to_driver, question->part, question->text, strlen(question->text));
	runner_flush(r);
	loop_timer_start(r->c.loop, &r->query_timer, loop_now(r->c.loop) + RUNNER_QUERY_MS,
			 on_query_timeout);
	return query;
}

struct runner_query *runner_query_variables(struct runner *r, unsigned limit, query_done_fn *done,
					    void *data)
{
	cleanup_free char *text = xasprintf("%u", limit);
	const struct question question = { .type = "vars", .part = "limit", .text = text };

	return ask(r, &question, done, data);
}

struct runner_query *runner_query_imported(struct runner *r, const char *packages,
					   query_done_fn *done, void *data)
{
	const struct question question = { .type = "imported",
					   .part = "packages",
					   .text = packages };

	return ask(r, &question, done, data);
}

static void read_answer(const struct frame *frame, struct query_answer *answer)
{
	const struct frame_part *lines = frame_part(frame, "vars");
	const struct frame_part *compiled = frame_part(frame, "compiled");
	cleanup_free char *total = frame_text(frame, "total");

	if (compiled != NULL) {
		answer->compiled = compiled->data;
		answer->compiled_len = compiled->len;
	}
	if (lines != NULL) {
		answer->lines = lines->data;
		answer->len = size_min(lines->len, FRAME_UP_LIST_MAX);
	}
	answer->total = total != NULL ? strtoull(total, NULL, 10) : 0;
}

void runner_end_query(struct runner *r, const struct frame *frame, const char *problem)
{
	struct runner_query *query = r->query;
	struct query_answer answer = { .problem = problem };

	if (query == NULL)
		return;
	if (frame != NULL)
		read_answer(frame, &answer);
	r->query = NULL;
	loop_timer_stop(&r->query_timer);
	query->done(&answer, query->data);
	free(query);
	runner_kick(r);
}

void runner_query_cancel(struct runner_query *query)
{
	struct runner *r = query->runner;

	if (r != NULL) {
		r->query = NULL;
		loop_timer_stop(&r->query_timer);
		runner_kick(r);
	}
	loop_defer_stop(&query->refused);
	free(query);
}

/* ---- packages ---- */

const struct cell *runner_cell(const struct runner *r)
{
	return r->cell;
}

uint64_t runner_cell_number(const struct runner *r)
{
	return r->cell != NULL ? r->cell->number : 0;
}

/* Non-blocking: a full pipe has replies that are not read. */
static void write_install_reply(int pipe, uint64_t number, bool ok, const char *text)
{
	cleanup_free char *line = xasprintf("%ju %d %.*s\n", (uintmax_t)number, ok, TOLD_MAX, text);

	for (char *c = line; c[1] != '\0'; c++)
		if (*c == '\n')
			*c = TOLD_LINE_END;
	(void)!write(pipe, line, strlen(line));
}

static void answer_install(struct runner *r, uint64_t number, bool ok, const char *text,
			   const char *packages)
{
	int told = interpreter_descriptor(r->interpreter, "told");

	if (told >= 0) {
		write_install_reply(told, number, ok, text);
		return;
	}
	frame_begin(&r->to_driver, "installed", number, 3);
	frame_add(&r->to_driver, "ok", ok ? "1" : "0", 1);
	frame_add(&r->to_driver, "text", text, strlen(text));
	frame_add(&r->to_driver, "packages", packages, strlen(packages));
	runner_flush(r);
}

void runner_installed(struct runner *r, uint64_t number, bool ok, const char *text,
		      const char *packages)
{
	if (number == 0 || r->installing != number || runner_cell_number(r) != number ||
	    r->interpreter == NULL)
		return;
	r->installing = 0;
	answer_install(r, number, ok, text, packages);
}

/* One request at a time: code that speaks as the driver could request without end. */
void runner_on_install(struct runner *r, const struct frame *frame)
{
	const struct frame_part *list = frame_part(frame, "packages");
	cleanup_free char *language = NULL;
	cleanup_free char *packages = NULL;

	if (list != NULL && list->len > FRAME_UP_LIST_MAX) {
		answer_install(r, r->cell->number, false, "These are too many packages at once.",
			       "");
		return;
	}
	language = frame_text(frame, "language");
	packages = frame_text(frame, "packages");
	if (r->c.handlers->install == NULL || language == NULL || packages == NULL) {
		answer_install(r, r->cell->number, false, "Nothing installs packages here.", "");
		return;
	}
	if (r->installing == r->cell->number) {
		runner_abort(r, "the code asked for packages while it waited for others");
		return;
	}
	r->installing = r->cell->number;
	r->c.handlers->install(r, language, packages);
}
