/* SPDX-License-Identifier: MIT */
/*
 * runner_query.c - questions to a driver between cells, and the one that a driver may ask: to
 * install packages.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runner/runner_internal.h"
#include "text/sanitize.h"

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

struct runner_query *runner_ask(struct runner *r, const struct query_request *request,
				query_done_fn *done, void *data)
{
	struct runner_query *query = xcalloc(1, sizeof(*query));

	query->done = done;
	query->data = data;
	if (r->state != RUNNER_READY || r->held || r->quits || r->query != NULL ||
	    !list_empty(&r->queue)) {
		query->problem =
			r->state == RUNNER_IDLE ? "the interpreter does not run: there are no names"
			: r->state == RUNNER_ENDING
				? "the interpreter is ending"
				: "the interpreter is busy; ask again when the cell has ended";
		loop_defer_start(r->c.loop, &query->refused, on_query_refused);
		return query;
	}
	query->runner = r;
	r->query = query;
	query->id = QUERY_FIRST_ID + r->query_count++;
	frame_begin(&r->to_driver, request->type, query->id, request->part_count);
	for (size_t i = 0; i < request->part_count; i++)
		frame_add(&r->to_driver, request->parts[i].name, request->parts[i].data,
			  request->parts[i].len);
	runner_flush(r);
	loop_timer_start(r->c.loop, &r->query_timer,
			 loop_now(r->c.loop) + RUNNER_QUERY_MS + request->work_ms,
			 on_query_timeout);
	return query;
}

struct runner_query *runner_query_variables(struct runner *r, unsigned limit, query_done_fn *done,
					    void *data)
{
	cleanup_free char *text = xasprintf("%u", limit);
	const struct query_part part = { "limit", text, strlen(text) };

	return runner_ask(
		r, &(struct query_request){ .type = "vars", .parts = &part, .part_count = 1 }, done,
		data);
}

struct runner_query *runner_query_imported(struct runner *r, const char *packages,
					   query_done_fn *done, void *data)
{
	const struct query_part part = { "packages", packages, strlen(packages) };

	return runner_ask(
		r, &(struct query_request){ .type = "imported", .parts = &part, .part_count = 1 },
		done, data);
}

struct runner_query *runner_query_close_named(struct runner *r, query_done_fn *done, void *data)
{
	return runner_ask(
		r, &(struct query_request){ .type = "close-named", .work_ms = RUNNER_CLOSE_MS },
		done, data);
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

/*
 * Returns why the driver does not what it was asked for, or NULL. Session code may have written it,
 * and answers show it. The caller frees it.
 */
static char *read_refusal(const struct runner *r, const struct frame *frame)
{
	cleanup_free char *status = frame_text(frame, "status");
	cleanup_free char *text = runner_safe_text(r, frame, "text");

	return status != NULL && text != NULL && str_eq(status, "no") ? sanitize_quote(text) : NULL;
}

void runner_end_query(struct runner *r, const struct frame *frame, const char *problem)
{
	struct runner_query *query = r->query;
	struct query_answer answer = { .problem = problem };
	cleanup_free char *refusal = NULL;

	if (query == NULL)
		return;
	if (frame != NULL)
		read_answer(frame, &answer);
	if (frame != NULL && (refusal = read_refusal(r, frame)) != NULL)
		answer.problem = refusal;
	r->query = NULL;
	loop_timer_stop(&r->query_timer);
	query->done(&answer, query->data);
	free(query);
	runner_wake(r);
}

void runner_query_cancel(struct runner_query *query)
{
	struct runner *r = query->runner;

	if (r != NULL) {
		r->query = NULL;
		loop_timer_stop(&r->query_timer);
		runner_wake(r);
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

static void answer_install(struct runner *r, uint64_t number, bool ok, const char *text,
			   const char *packages)
{
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
