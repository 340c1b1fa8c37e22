/* SPDX-License-Identifier: MIT */
/* session_exec.c - calls, from submission to answer. */
#include <stdlib.h>

#include "base/mem.h"
#include "session/confinement.h"
#include "session/session_internal.h"
#include "workspace/keeper.h"

/* ---- answers ---- */

static void exec_free(struct exec *exec)
{
	list_remove(&exec->node);
	cell_free(exec->cell);
	free(exec->keep_problem);
	free(exec);
}

void session_answer(struct session *s, struct exec *exec)
{
	cleanup_free char *notice = NULL;
	struct exec_result result = { .session = s, .cell = exec->cell };

	session_touch(s);
	list_remove(&exec->node);
	if (!exec->abandoned) {
		notice = session_take_notice(s);
		result.notice = notice;
		result.keep_problem = exec->keep_problem;
		result.saved = exec->kept_count > 0 ? keeper_folder(s->keeper) : NULL;
		exec->done(exec, &result, exec->data);
	}
	exec_free(exec);
}

/* A call that can no longer run to its end is answered with what there is. */
static void answer_ended(struct session *s, struct exec *exec, const char *why)
{
	if (exec->cell == NULL) {
		exec->cell = cell_new(s->next_cell++, "");
		exec->cell->state = CELL_NOT_STARTED;
		exec->cell->problem = xstrdup(why);
	}
	session_answer(s, exec);
}

void session_answer_all(struct session *s, struct list *execs, const char *why)
{
	while (!list_empty(execs))
		answer_ended(s, list_entry(execs->next, struct exec, node), why);
}

void session_on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	struct session *s = runner_owner(runner);
	struct exec *exec = data;

	if (exec == NULL) { /* cancelled: its files are looked at all the same */
		exec = xcalloc(1, sizeof(*exec));
		list_init(&exec->node);
		exec->session = s;
		exec->abandoned = true;
	}
	exec->run = NULL;
	exec->cell = cell_own;
	exec->runner = runner;
	list_remove(&exec->node);
	list_append(&s->to_scan, &exec->node);
	session_scan_next(s);
}

/* ---- calls ---- */

struct exec *session_exec(struct session *s, const struct exec_request *request, exec_done_fn *done,
			  void *data, struct err *err)
{
	struct exec *exec;
	uint64_t timeout_ms =
		request->timeout_ms > 0 ? request->timeout_ms : s->limits.exec_timeout * 1000;

	if (confinement_check(s->host->confinement, err) < 0)
		return NULL;
	exec = xcalloc(1, sizeof(*exec));
	session_touch(s);
	list_init(&exec->node);
	list_append(&s->execs, &exec->node);
	exec->session = s;
	exec->done = done;
	exec->data = data;
	exec->run = runner_submit(session_runner_for(s, request->language), request->code,
				  request->code_len, timeout_ms, exec, err);
	if (exec->run == NULL) {
		exec_free(exec);
		return NULL;
	}
	return exec;
}

void session_exec_cancel(struct exec *exec)
{
	if (exec->run != NULL) {
		struct run *run = exec->run;

		exec_free(exec);
		runner_cancel(run);
		return;
	}
	exec->abandoned = true; /* it has run: only its files remain to be looked at */
}
