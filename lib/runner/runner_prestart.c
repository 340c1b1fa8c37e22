/* SPDX-License-Identifier: MIT */
/*
 * runner_prestart.c - an interpreter that starts before a session has a cell for it. It works on
 * queries (`preload`, `serve`) like any other, but without their timer.
 */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "runner/driver_cache.h"
#include "runner/runner_internal.h"

int runner_prepare(struct runner *r, struct err *err)
{
	assert(r->state == RUNNER_IDLE && list_empty(&r->queue));
	return runner_start_interpreter(r, err);
}

/* Without a timer: the caller judges how long an import may take. */
static void send_query(struct runner *r, const char *type, const char *name, const char *value,
		       query_done_fn *done, void *data)
{
	struct runner_query *query = xcalloc(1, sizeof(*query));

	assert(r->state == RUNNER_READY && r->query == NULL);
	if (r->query_count == 0) {
		runner_drain(r, RUNNER_DRAIN_MAX);
		r->startup = r->background;
		r->background = NULL;
	}
	query->runner = r;
	query->done = done;
	query->data = data;
	query->id = QUERY_FIRST_ID + r->query_count++;
	r->query = query;
	frame_begin(&r->to_driver, type, query->id, 1);
	frame_add(&r->to_driver, name, value, strlen(value));
	runner_flush(r);
}

void runner_preload(struct runner *r, const char *module, query_done_fn *done, void *data)
{
	send_query(r, "preload", "module", module, done, data);
}

void runner_serve(struct runner *r, const char *library, query_done_fn *done, void *data)
{
	send_query(r, "serve", "library", library, done, data);
}

void runner_keep_compiled(struct runner *r, const struct query_answer *answer)
{
	if (answer->compiled != NULL && runner_keeps_compiled(r))
		driver_cache_put(r->c.home, r->compiled, answer->compiled, answer->compiled_len);
}

struct interpreter *runner_interpreter(const struct runner *r)
{
	return r->interpreter;
}

void runner_pause(struct runner *r, bool pause)
{
	if (r->state == RUNNER_READY)
		interpreter_signal(r->interpreter, pause ? SIGSTOP : SIGCONT);
}

void runner_adopt(struct runner *r, const struct runner_context *context)
{
	assert(r->cell == NULL && r->query == NULL);
	assert(r->state == RUNNER_READY || r->state == RUNNER_STARTING);
	assert(context->sandbox == r->c.sandbox && context->workspace == r->c.workspace &&
	       context->language == r->c.language);
	if (r->query_count > 0) {
		runner_drain(r, RUNNER_DRAIN_MAX);
		transcript_free(r->background);
		r->background = r->startup;
		r->startup = NULL;
	}
	r->c = *context;
	r->c.zygote = NULL; /* its one interpreter is the first already */
}
