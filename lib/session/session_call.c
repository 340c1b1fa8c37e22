/* SPDX-License-Identifier: MIT */
/* session_call.c - who waits for an answer, and what it gets when. */
#include <stdlib.h>

#include "base/mem.h"
#include "runner/expect.h"
#include "session/session_internal.h"
#include "transfer/uploads.h"
#include "workspace/keeper.h"

static const char until_note[] = "it has written the text to wait for";

struct call *session_call_new(struct lane *lane, struct exec *exec, call_done_fn *done, void *data)
{
	struct call *call = xcalloc(1, sizeof(*call));

	list_init(&call->node);
	call->lane = lane;
	call->exec = exec;
	call->done = done;
	call->data = data;
	call->since_ms = loop_now(lane->session->host->loop);
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
	expect_free(call->until);
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
		.ended = true,
		.saved = exec->kept_count > 0 ? keeper_folder(s->keeper) : NULL,
		.keep_problem = exec->keep_problem,
		.keep_renamed = exec->keep_renamed,
		.keep_left = exec->keep_left,
	};
}

/* Those that ended and that no call of their own is about to tell. */
static size_t fill_earlier(const struct lane *lane, const struct exec *subject,
			   struct exec_result results[])
{
	size_t count = 0;

	for (struct list *node = lane->unreported.next; node != &lane->unreported;
	     node = node->next) {
		const struct exec *exec = list_entry(node, struct exec, node);

		if (exec->call == NULL && exec != subject)
			fill(&results[count++], exec);
	}
	return count;
}

static void forget_told(struct lane *lane)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &lane->unreported) {
		struct exec *exec = list_entry(node, struct exec, node);

		if (exec->call == NULL)
			session_exec_free(exec);
	}
}

/* The one place where a call is answered. `subject` is what ended, NULL when `cell` goes on. */
static void tell(struct call *call, const struct cell *cell, const struct exec *subject,
		 const char *note)
{
	struct lane *lane = call->lane;
	struct session *s = lane->session;
	cleanup_free char *notice = session_take_notice(s);
	cleanup_free char *upload_problem = NULL;
	cleanup_free char *uploading = NULL;
	struct uploaded links[SESSION_LINKS_MAX];
	struct exec_result *earlier = xcalloc(list_len(&lane->unreported), sizeof(*earlier));
	struct exec_result result = { .session = s, .cell = cell };

	session_touch(s);
	if (subject != NULL)
		fill(&result, subject);
	result.notice = notice;
	result.note = note;
	result.earlier_count = fill_earlier(lane, subject, earlier);
	result.earlier = earlier;
	if (s->uploads != NULL) {
		result.links = links;
		result.link_count = uploads_news(s->uploads, links, SESSION_LINKS_MAX);
		result.links_shown = size_min(result.link_count, SESSION_LINKS_MAX);
		result.upload_problem = upload_problem = uploads_problem(s->uploads);
		if (subject != NULL && uploads_pending(s->uploads, subject->upload))
			result.uploading = uploading = uploads_name_under_way(s->uploads);
		uploads_told(s->uploads);
	}
	if (subject == NULL && !cell->bare)
		s->host->cell_shown(s->host->owner, s, cell);
	call->done(call, &result, call->data);
	call_free(call);
	free(earlier);
	forget_told(lane);
}

static void tell_end(struct call *call)
{
	struct list *last = call->lane->unreported.prev;
	struct exec *exec = call->exec != NULL ? call->exec : list_entry(last, struct exec, node);

	tell(call, exec->cell, exec, NULL);
}

/* What has ended already, or has not begun: nothing of it can be shown. */
static void tell_bare(struct call *call, const struct cell *like, const char *note)
{
	struct cell *cell = cell_new(like->number, like->language);

	cell->state = like->state;
	cell->elapsed_us = like->elapsed_us;
	cell->bare = true;
	if (like->state != CELL_RUNNING)
		runner_take_background(call->lane->runner, cell);
	tell(call, cell, NULL, note);
	cell_free(cell);
}

static void tell_running(struct call *call, const char *note)
{
	struct lane *lane = call->lane;
	struct exec *exec = session_first_exec(lane);
	struct cell like = { .number = exec->number,
			     .language = runner_language(lane->runner)->name,
			     .state = CELL_RUNNING };

	if (exec->cell != NULL) {
		like.elapsed_us = exec->cell->elapsed_us;
		tell_bare(call, &like, "its code has ended, its files are still being looked at");
	} else if (runner_current(lane->runner) == exec) {
		tell(call, runner_look(lane->runner), NULL, note);
	} else {
		tell_bare(call, &like, "it is about to begin");
	}
}

static void tell_now(struct call *call, const char *note)
{
	struct lane *lane = call->lane;

	if (session_first_exec(lane) != NULL)
		tell_running(call, note);
	else if (!list_empty(&lane->unreported))
		tell_end(call);
	else
		tell_bare(call, &lane->last, note);
}

static void forget_oldest(struct lane *lane)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &lane->unreported) {
		struct exec *exec = list_entry(node, struct exec, node);

		if (exec->call == NULL) {
			session_exec_free(exec);
			return;
		}
	}
}

void session_answer_waiters(struct lane *lane, struct exec *exec)
{
	struct list *node;
	struct list *next;

	if (exec->call != NULL)
		tell_end(exec->call);
	else if (!list_empty(&lane->lookers))
		tell_end(list_entry(lane->lookers.next, struct call, node));
	else if (list_len(&lane->unreported) > SESSION_UNTOLD_MAX)
		forget_oldest(lane);
	list_for_each (node, next, &lane->lookers)
		tell_now(list_entry(node, struct call, node), NULL);
}

/* ---- what running cells do ---- */

static struct lane *lane_of(struct runner *runner)
{
	return session_lane_of(runner_owner(runner), runner);
}

void session_on_waits(struct runner *runner)
{
	struct lane *lane = lane_of(runner);
	struct exec *exec = runner_current(runner);
	struct list *node;
	struct list *next;

	session_tell_state(lane->session);
	if (exec->call != NULL && !session_call_ask(exec->call, exec))
		tell_running(exec->call, NULL);
	list_for_each (node, next, &lane->lookers) {
		struct call *call = list_entry(node, struct call, node);

		if (!session_call_ask(call, exec))
			tell_running(call, NULL);
	}
}

/* Whoever waits learns how it stands. */
static void tell_all(struct lane *lane, const char *note)
{
	struct exec *exec = runner_current(lane->runner);
	struct list *node;
	struct list *next;

	session_tell_state(lane->session);
	if (exec->call != NULL)
		tell_running(exec->call, note);
	list_for_each (node, next, &lane->lookers)
		tell_running(list_entry(node, struct call, node), note);
}

void session_on_unanswered(struct runner *runner)
{
	tell_all(lane_of(runner), "the user's answer came too late for it");
}

void session_on_overdue(struct runner *runner)
{
	tell_all(lane_of(runner), NULL);
}

void session_on_stuck(struct runner *runner, const char *how)
{
	struct lane *lane = lane_of(runner);
	struct list *node;
	struct list *next;

	list_for_each (node, next, &lane->lookers)
		tell_running(list_entry(node, struct call, node), how);
}

void session_on_wrote(struct runner *runner, const char *data, size_t len)
{
	struct lane *lane = lane_of(runner);

	for (struct list *node = lane->lookers.next; node != &lane->lookers; node = node->next) {
		struct call *call = list_entry(node, struct call, node);

		if (call->until == NULL || call->until_seen || !expect_feed(call->until, data, len))
			continue;
		call->until_seen = true;
		call->note = until_note;
		session_call_wait(call, 0); /* the rest of what is there comes along */
	}
}

/* ---- waiting ---- */

static void on_wait(struct loop_timer *timer)
{
	struct call *call = container_of(timer, struct call, wait);
	struct exec *exec = call->exec;
	const struct exec *ahead =
		exec != NULL && exec->state == EXEC_SUBMITTED ? session_exec_ahead(exec) : NULL;

	if (exec != NULL && exec->state == EXEC_UNREPORTED)
		tell_end(call);
	else if (ahead != NULL)
		session_exec_withdraw(exec, ahead);
	else if (!session_call_ask_again(call))
		tell_now(call, call->note);
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

void session_call_forget(struct call *call)
{
	call_free(call);
}

char *session_call_progress(const struct call *call, uint64_t *ret_ms)
{
	*ret_ms = loop_now(call->lane->session->host->loop) - call->since_ms;
	return runner_last_line(call->lane->runner);
}

/* ---- looking ---- */

static bool has_news(const struct lane *lane)
{
	return session_first_exec(lane) != NULL || !list_empty(&lane->unreported);
}

static int ask_for_language(const struct session *s, struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < s->lane_count; i++)
		if (has_news(&s->lanes[i]))
			buf_putf(&names, "%s%s", names.len > 0 ? ", " : "",
				 runner_language(s->lanes[i].runner)->name);
	return err_set(err, ERR_INVALID, "arguments.language is needed: there is news of %s",
		       buf_str(&names));
}

/* Without a language the one with news, else the one used last; ERR_INVALID when several have. */
static struct lane *lane_to_look_at(struct session *s, const struct language *language,
				    struct err *err)
{
	struct lane *found = NULL;
	size_t news = 0;

	for (size_t i = 0; i < s->lane_count; i++) {
		struct lane *lane = &s->lanes[i];

		if (language != NULL && runner_language(lane->runner) != language)
			continue;
		if (has_news(lane)) {
			found = lane;
			news++;
		} else if (news == 0 && lane->last.number > (found ? found->last.number : 0)) {
			found = lane;
		}
	}
	if (found == NULL)
		(void)err_set(err, ERR_NOT_FOUND, "no %s%scell has run in session '%s'",
			      language != NULL ? language->name : "", language != NULL ? " " : "",
			      s->id);
	return news > 1 && ask_for_language(s, err) < 0 ? NULL : found;
}

static int act(struct lane *lane, const struct look_request *request, struct err *err)
{
	static const enum runner_stop stops[] = {
		[LOOK_INTERRUPT] = RUNNER_STOP_INTERRUPT,
		[LOOK_TERMINATE] = RUNNER_STOP_TERMINATE,
		[LOOK_KILL] = RUNNER_STOP_KILL,
	};

	if (request->action == LOOK_ANSWER || request->action == LOOK_ASK)
		return 0; /* whether it can be typed is no matter of the request */
	if (request->action == LOOK_TYPE)
		return runner_type(lane->runner, request->typing, request->text, request->text_len,
				   err);
	if (request->action != LOOK_WAIT && !session_exec_stop_queued(lane))
		runner_stop(lane->runner, stops[request->action]);
	return 0;
}

/* Output that is there and was never told counts as well. */
static void look_for(struct call *call, const char *text, size_t len)
{
	cleanup_buf struct buf held = BUF_INIT(BUF_UNBOUNDED);

	call->until = expect_new(text, len);
	runner_read_held(call->lane->runner, &held);
	call->until_seen = expect_feed(call->until, buf_str(&held), held.len);
	call->note = call->until_seen ? until_note : NULL;
}

/* Whether there is something to wait for. */
static bool may_wait(const struct call *call, const struct look_request *request)
{
	const struct lane *lane = call->lane;

	if (call->note != NULL)
		return false;
	if (session_first_exec(lane) == NULL)
		return call->until != NULL && list_empty(&lane->unreported);
	return (request->action != LOOK_WAIT && request->action != LOOK_ASK) ||
	       runner_wait(lane->runner) == NULL;
}

struct call *session_look(struct session *s, const struct look_request *request, call_done_fn *done,
			  void *data, struct err *err)
{
	struct lane *lane = lane_to_look_at(s, request->language, err);
	struct call *call;

	if (lane == NULL)
		return NULL;
	session_touch(s);
	if (act(lane, request, err) < 0)
		return NULL;
	call = session_call_new(lane, NULL, done, data);
	call->note = request->note;
	if (request->action == LOOK_ANSWER &&
	    !session_answer_wait(lane, &request->wait, request->text, request->text_len))
		call->note = "the user's answer came too late for it";
	if (request->action == LOOK_ASK)
		session_may_ask_again(call, &request->wait);
	if (request->until != NULL)
		look_for(call, request->until, request->until_len);
	session_call_wait(call, may_wait(call, request) ? request->wait_ms : 0);
	return call;
}

/* Code that was refused at once, its answer due in the next turn. */
static struct call *first_untold_call(const struct lane *lane)
{
	for (struct list *node = lane->unreported.next; node != &lane->unreported;
	     node = node->next) {
		const struct exec *exec = list_entry(node, struct exec, node);

		if (exec->call != NULL)
			return exec->call;
	}
	return NULL;
}

void session_lane_release(struct lane *lane)
{
	struct call *call;

	while ((call = first_untold_call(lane)) != NULL)
		tell_end(call);
	while (!list_empty(&lane->lookers))
		tell_now(list_entry(lane->lookers.next, struct call, node), NULL);
	forget_told(lane);
}
