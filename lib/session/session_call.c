/* SPDX-License-Identifier: MIT */
/* session_call.c - who waits for an answer, and what it gets when. */
#include <stdlib.h>

#include "base/mem.h"
#include "session/session_internal.h"
#include "workspace/keeper.h"

struct call *session_call_new(struct lane *lane, struct exec *exec, call_done_fn *done, void *data)
{
	struct call *call = xcalloc(1, sizeof(*call));

	list_init(&call->node);
	call->lane = lane;
	call->exec = exec;
	call->done = done;
	call->data = data;
	if (exec != NULL)
		exec->call = call;
	else
		list_append(&lane->lookers, &call->node);
	return call;
}

static void call_free(struct call *call)
{
	list_remove(&call->node);
	loop_timer_stop(&call->wait);
	if (call->exec != NULL)
		call->exec->call = NULL;
	free(call);
}

/* ---- answers ---- */

static void fill(struct exec_result *result, const struct exec *exec)
{
	struct session *s = exec->lane->session;

	*result = (struct exec_result){
		.session = s,
		.cell = exec->cell,
		.saved = exec->kept_count > 0 ? keeper_folder(s->keeper) : NULL,
		.keep_problem = exec->keep_problem,
	};
}

/* Those that ended and that no call of their own is about to tell. */
static size_t fill_earlier(const struct lane *lane, const struct exec *subject,
			   struct exec_result results[])
{
	size_t count = 0;

	for (struct list *node = lane->untold.next; node != &lane->untold; node = node->next) {
		const struct exec *exec = list_entry(node, struct exec, node);

		if (exec != subject && exec->call == NULL)
			fill(&results[count++], exec);
	}
	return count;
}

static void forget_told(struct lane *lane)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &lane->untold) {
		struct exec *exec = list_entry(node, struct exec, node);

		if (exec->call == NULL)
			session_exec_free(exec);
	}
}

/* The one place where a call is answered. `subject` is what ended, NULL when `cell` goes on. */
static void tell(struct call *call, const struct cell *cell, const struct exec *subject)
{
	struct lane *lane = call->lane;
	struct session *s = lane->session;
	cleanup_free char *notice = session_take_notice(s);
	struct exec_result *earlier = xcalloc(list_len(&lane->untold), sizeof(*earlier));
	struct exec_result result = { .session = s, .cell = cell };

	session_touch(s);
	if (subject != NULL)
		fill(&result, subject);
	result.notice = notice;
	result.earlier_count = fill_earlier(lane, subject, earlier);
	result.earlier = earlier;
	call->done(call, &result, call->data);
	call_free(call);
	free(earlier);
	forget_told(lane);
}

static void tell_end(struct call *call)
{
	struct list *last = call->lane->untold.prev;
	struct exec *exec = call->exec != NULL ? call->exec : list_entry(last, struct exec, node);

	tell(call, exec->cell, exec);
}

/* What has ended already, or has not begun: nothing of it can be shown yet. */
static void tell_bare(struct call *call, const struct cell *like, const char *problem)
{
	struct cell *cell = cell_new(like->number, like->language);

	cell->state = like->state;
	cell->elapsed_us = like->elapsed_us;
	cell->bare = true;
	cell->problem = problem != NULL ? xstrdup(problem) : NULL;
	if (like->state != CELL_RUNNING)
		runner_take_background(call->lane->runner, cell);
	tell(call, cell, NULL);
	cell_free(cell);
}

static void tell_running(struct call *call, const char *problem)
{
	struct lane *lane = call->lane;
	struct exec *exec = session_first_exec(lane);
	struct cell like = { .number = exec->number,
			     .language = runner_language(lane->runner)->name,
			     .state = CELL_RUNNING };
	struct cell *cell;

	if (exec->cell != NULL) {
		like.elapsed_us = exec->cell->elapsed_us;
		tell_bare(call, &like, "its code has ended, its files are still being looked at");
	} else if (runner_current(lane->runner) == exec) {
		cell = runner_look(lane->runner);
		free(cell->problem);
		cell->problem = problem != NULL ? xstrdup(problem) : NULL;
		tell(call, cell, NULL);
		free(cell->problem);
		cell->problem = NULL;
	} else {
		tell_bare(call, &like, "it is about to begin");
	}
}

static void tell_now(struct call *call)
{
	struct lane *lane = call->lane;

	if (session_first_exec(lane) != NULL)
		tell_running(call, NULL);
	else if (!list_empty(&lane->untold))
		tell_end(call);
	else
		tell_bare(call, &lane->last, NULL);
}

void session_tell_end(struct lane *lane, struct exec *exec)
{
	struct list *node;
	struct list *next;

	if (exec->call != NULL)
		tell_end(exec->call);
	else if (!list_empty(&lane->lookers))
		tell_end(list_entry(lane->lookers.next, struct call, node));
	else if (list_len(&lane->untold) > SESSION_UNTOLD_MAX)
		session_exec_free(list_entry(lane->untold.next, struct exec, node));
	list_for_each (node, next, &lane->lookers)
		tell_now(list_entry(node, struct call, node));
}

void session_on_unmoved(struct runner *runner)
{
	struct lane *lane = session_lane_of(runner_owner(runner), runner);
	struct list *node;
	struct list *next;

	list_for_each (node, next, &lane->lookers)
		tell_running(list_entry(node, struct call, node),
			     "it did not react to the interrupt; action terminate ends it, and its "
			     "variables with it");
}

/* ---- waiting ---- */

static void on_wait(struct loop_timer *timer)
{
	struct call *call = container_of(timer, struct call, wait);
	struct exec *exec = call->exec;

	if (exec != NULL && exec->over)
		tell_end(call);
	else if (exec != NULL && exec->run != NULL && session_exec_ahead(exec) != NULL)
		session_exec_withdraw(exec);
	else
		tell_now(call);
}

void session_call_wait(struct call *call, uint64_t ms)
{
	struct loop *loop = call->lane->session->host->loop;

	loop_timer_start(loop, &call->wait, loop_now(loop) + ms, on_wait);
}

void session_call_cancel(struct call *call)
{
	struct exec *exec = call->exec;

	call_free(call);
	if (exec != NULL)
		session_exec_cancel(exec);
}

/* ---- looking ---- */

/* Without a language the one where something is to be seen; ERR_INVALID when that is not clear. */
static struct lane *lane_to_look_at(struct session *s, const struct language *language,
				    struct err *err)
{
	struct lane *found = NULL;
	size_t used = 0;
	size_t busy = 0;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct lane *lane = &s->lanes[i];
		bool is_busy = session_first_exec(lane) != NULL || !list_empty(&lane->untold);

		if (language != NULL && runner_language(lane->runner) != language)
			continue;
		if (lane->last.number == 0 && !is_busy)
			continue;
		used++;
		if (found == NULL || (is_busy && busy == 0))
			found = lane;
		busy += is_busy;
	}
	if (found == NULL) {
		(void)err_set(err, ERR_NOT_FOUND, "no %scell has run in session '%s'",
			      language != NULL ? language->name : "", s->id);
		return NULL;
	}
	if (busy > 1 || (busy == 0 && used > 1)) {
		(void)err_set(err, ERR_INVALID,
			      "arguments.language is needed: this session uses %zu", used);
		return NULL;
	}
	return found;
}

struct call *session_look(struct session *s, const struct look_request *request, call_done_fn *done,
			  void *data, struct err *err)
{
	static const enum runner_stop stops[] = {
		[LOOK_WAIT] = RUNNER_STOP_NONE,
		[LOOK_INTERRUPT] = RUNNER_STOP_INTERRUPT,
		[LOOK_TERMINATE] = RUNNER_STOP_TERMINATE,
		[LOOK_KILL] = RUNNER_STOP_KILL,
	};
	struct lane *lane = lane_to_look_at(s, request->language, err);
	struct call *call;

	if (lane == NULL)
		return NULL;
	session_touch(s);
	if (request->action != LOOK_WAIT)
		runner_stop(lane->runner, stops[request->action]);
	call = session_call_new(lane, NULL, done, data);
	session_call_wait(call, session_first_exec(lane) != NULL ? request->wait_ms : 0);
	return call;
}

void session_lane_release(struct lane *lane, const char *why)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &lane->untold) {
		struct exec *exec = list_entry(node, struct exec, node);

		if (exec->call != NULL)
			tell_end(exec->call);
	}
	(void)why;
	while (!list_empty(&lane->lookers))
		tell_now(list_entry(lane->lookers.next, struct call, node));
	forget_told(lane);
}
