/* SPDX-License-Identifier: MIT */
/* runner_ahead.c - an interpreter that is started before anybody has a cell for it. */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "session/runner_internal.h"

int runner_prepare(struct runner *r, struct err *err)
{
	assert(r->state == RUNNER_IDLE && list_empty(&r->queue));
	return runner_start_interpreter(r, err);
}

/* No timer: how long an import takes is for whoever waits to judge. */
void runner_preload(struct runner *r, const char *module, query_done_fn *done, void *data)
{
	struct query *query = xcalloc(1, sizeof(*query));

	assert(r->state == RUNNER_READY && r->query == NULL);
	query->runner = r;
	query->done = done;
	query->data = data;
	query->id = QUERY_FIRST_ID + r->query_count++;
	r->query = query;
	frame_begin(&r->to_driver, "preload", query->id, 1);
	frame_add(&r->to_driver, "module", module, strlen(module));
	runner_flush(r);
}

void runner_pause(struct runner *r, bool pause)
{
	if (r->state == RUNNER_READY)
		interpreter_signal(r->interpreter, pause ? SIGSTOP : SIGCONT);
}

void runner_adopt(struct runner *r, const struct runner_context *context)
{
	assert(r->state == RUNNER_READY && r->cell == NULL && r->query == NULL);
	assert(context->sandbox == r->c.sandbox && context->workspace == r->c.workspace &&
	       context->language == r->c.language);
	runner_drain(r, RUNNER_DRAIN_MAX);
	transcript_free(r->background);
	r->background = NULL;
	r->c = *context;
}
