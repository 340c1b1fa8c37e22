/* SPDX-License-Identifier: MIT */
/*
 * session_call.c - answers calls. answer_call is the one place where that happens; it also reports
 * the executions that ended without a waiting call. Answering may free the call, and unreported
 * executions of its language, so callers must not use either afterwards.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "runner/expect.h"
#include "session/session_internal.h"
#include "session/watchdog.h"
#include "transfer/uploads.h"
#include "workspace/keeper.h"

static const char expected_note[] = "it has written the text to wait for";

struct call *session_call_new(struct session_language *lang, struct execution *exec,
			      call_done_fn *done, void *data)
{
	struct call *call = xcalloc(1, sizeof(*call));

	list_init(&call->node);
	call->lang = lang;
	call->exec = exec;
	call->done = done;
	call->data = data;
	call->since_ms = loop_now(lang->session->host->loop);
	if (exec != NULL)
		exec->call = call;
	else
		list_append(&lang->observers, &call->node);
	return call;
}

void session_call_forget(struct call *call)
{
	list_remove(&call->node);
	loop_timer_stop(&call->wait);
	expect_free(call->expected);
	if (call->exec != NULL)
		call->exec->call = NULL;
	free(call);
}

/* ---- answers ---- */

static void fill_result(struct exec_result *result, const struct execution *exec)
{
	struct session *s = exec->lang->session;

	*result = (struct exec_result){
		.session = s,
		.cell = exec->cell,
		.ended = true,
		.assumed = exec->assumed,
		.saved = session_exec_folder(exec),
		.saving = exec->saving,
		.keep_problem = exec->keep_problem,
		.keep_renamed = exec->keep_renamed,
		.keep_left = exec->keep_left,
	};
}

/* Fills in the unreported executions that no call of their own will report. */
static size_t fill_earlier(const struct session_language *lang, const struct execution *subject,
			   struct exec_result results[])
{
	size_t count = 0;

	list_for_each (const struct execution, exec, &lang->unreported, node)
		if (exec->call == NULL && exec != subject)
			fill_result(&results[count++], exec);
	return count;
}

/* Frees the first executions of a list, until there are not more than `max`. */
static void trim(struct list *list, size_t max)
{
	while (list_len(list) > max)
		session_exec_free(list_entry(list->next, struct execution, node));
}

/* Moves a reported execution to those whose answer the client may not have read. */
static void keep_answered(struct execution *exec)
{
	struct session_language *lang = exec->lang;
	const struct session_host *host = lang->session->host;

	exec->answered_at = host->written(host->owner);
	list_remove(&exec->node);
	list_append(&lang->answered, &exec->node);
	trim(&lang->answered, SESSION_ANSWERED_MAX);
}

static void drop_reported(struct session_language *lang)
{
	bool keeps = lang->session->host->written != NULL;

	list_for_each (struct execution, exec, &lang->unreported, node) {
		if (exec->call != NULL)
			continue;
		if (keeps)
			keep_answered(exec);
		else
			session_exec_free(exec);
	}
}

static void move_all(struct list *from, struct list *to)
{
	while (!list_empty(from)) {
		struct list *node = from->next;

		list_remove(node);
		list_append(to, node);
	}
}

void session_report_again(struct session *s, uint64_t read)
{
	for (size_t i = 0; i < s->language_count; i++) {
		struct session_language *lang = &s->languages[i];

		list_for_each (struct execution, exec, &lang->answered, node)
			if (exec->answered_at <= read)
				session_exec_free(exec);
		move_all(&lang->unreported, &lang->answered); /* they are the later ones */
		move_all(&lang->answered, &lang->unreported);
		trim(&lang->unreported, SESSION_UNREPORTED_MAX);
	}
}

/* Answers a call. `subject` is the execution that ended; NULL when `cell` runs on. */
static void answer_call(struct call *call, const struct cell *cell, const struct execution *subject,
			const char *note)
{
	struct session_language *lang = call->lang;
	struct session *s = lang->session;
	cleanup_free char *notice = session_take_notice(s);
	cleanup_free char *upload_problem = NULL;
	cleanup_free char *uploading = NULL;
	struct uploaded links[SESSION_LINKS_MAX];
	struct exec_result *earlier = xcalloc(list_len(&lang->unreported), sizeof(*earlier));
	struct exec_result result = { .session = s, .cell = cell };

	session_touch(s);
	if (subject != NULL)
		fill_result(&result, subject);
	result.notice = notice;
	result.note = note;
	result.earlier_count = fill_earlier(lang, subject, earlier);
	result.earlier = earlier;
	if (s->uploads != NULL) {
		result.links = links;
		result.link_count = uploads_news(s->uploads, links, SESSION_LINKS_MAX);
		result.links_shown = size_min(result.link_count, SESSION_LINKS_MAX);
		result.upload_problem = upload_problem = uploads_problem(s->uploads);
		if (subject != NULL && uploads_pending(s->uploads, subject->upload))
			result.uploading = uploading = uploads_name_under_way(s->uploads);
		uploads_mark_reported(s->uploads);
	}
	if (subject == NULL && !cell->bare)
		s->host->cell_shown(s->host->owner, s, cell);
	call->done(call, &result, call->data);
	session_call_forget(call);
	free(earlier);
	drop_reported(lang);
}

static void answer_with_end(struct call *call)
{
	struct list *last = call->lang->unreported.prev;
	struct execution *exec =
		call->exec != NULL ? call->exec : list_entry(last, struct execution, node);

	answer_call(call, exec->cell, exec, NULL);
}

/* Answers without output: the cell has ended already, or has not begun. */
static void answer_bare(struct call *call, const struct cell *like, const char *note)
{
	struct cell *cell = cell_new(like->number, like->language);

	cell->state = like->state;
	cell->elapsed_us = like->elapsed_us;
	cell->bare = true;
	if (like->state != CELL_RUNNING) {
		runner_report_late(call->lang->runner);
		runner_take_background(call->lang->runner, cell);
	}
	answer_call(call, cell, NULL, note);
	cell_free(cell);
}

static void answer_running(struct call *call, const char *note)
{
	struct session_language *lang = call->lang;
	struct execution *exec = session_first_exec(lang);
	struct cell like = { .number = exec->number,
			     .language = runner_language(lang->runner)->name,
			     .state = CELL_RUNNING };

	if (exec->cell != NULL) {
		like.elapsed_us = exec->cell->elapsed_us;
		answer_bare(call, &like, "its code has ended, its files are still being looked at");
	} else if (runner_current(lang->runner) == exec) {
		struct cell *cell = runner_observe(lang->runner);

		watchdog_explain_cell(lang->session->watchdog, lang->runner, cell);
		answer_call(call, cell, NULL, note);
	} else {
		answer_bare(call, &like, "it is about to begin");
	}
}

static void answer_now(struct call *call, const char *note)
{
	struct session_language *lang = call->lang;

	if (session_first_exec(lang) != NULL)
		answer_running(call, note);
	else if (!list_empty(&lang->unreported))
		answer_with_end(call);
	else
		answer_bare(call, &lang->last, note);
}

static void free_oldest(struct session_language *lang)
{
	list_for_each (struct execution, exec, &lang->unreported, node) {
		if (exec->call == NULL) {
			session_exec_free(exec);
			return;
		}
	}
}

void session_answer_waiters(struct session_language *lang, struct execution *exec)
{
	if (exec->call != NULL)
		answer_with_end(exec->call);
	else if (!list_empty(&lang->observers))
		answer_with_end(list_entry(lang->observers.next, struct call, node));
	else if (list_len(&lang->unreported) > SESSION_UNREPORTED_MAX)
		free_oldest(lang);
	list_for_each (struct call, call, &lang->observers, node)
		answer_now(call, NULL);
}

/* ---- events of running cells ---- */

static struct session_language *language_of_runner(struct runner *runner)
{
	return session_language_of(runner_owner(runner), runner);
}

void session_on_waits(struct runner *runner)
{
	struct session_language *lang = language_of_runner(runner);
	struct execution *exec = runner_current(runner);

	session_report_state(lang->session);
	if (exec->call != NULL && !session_call_ask(exec->call, exec))
		answer_running(exec->call, NULL);
	list_for_each (struct call, call, &lang->observers, node)
		if (!session_call_ask(call, exec))
			answer_running(call, NULL);
}

/* Answers all calls of a language with the state of the running cell. */
static void answer_all(struct session_language *lang, const char *note)
{
	struct execution *exec = runner_current(lang->runner);

	session_report_state(lang->session);
	if (exec->call != NULL)
		answer_running(exec->call, note);
	list_for_each (struct call, call, &lang->observers, node)
		answer_running(call, note);
}

void session_on_unanswered(struct runner *runner)
{
	answer_all(language_of_runner(runner), "the user's answer came too late for it");
}

void session_on_overdue(struct runner *runner)
{
	answer_all(language_of_runner(runner), NULL);
}

void session_on_stuck(struct runner *runner, const char *how)
{
	struct session_language *lang = language_of_runner(runner);

	list_for_each (struct call, call, &lang->observers, node)
		answer_running(call, how);
}

void session_on_wrote(struct runner *runner, const char *data, size_t len)
{
	struct session_language *lang = language_of_runner(runner);
	const struct session_host *host = lang->session->host;

	if (host->wrote != NULL)
		host->wrote(host->owner, lang->session, runner_language(runner), data, len);
	list_for_each (struct call, call, &lang->observers, node) {
		if (call->expected == NULL || call->expected_seen ||
		    !expect_feed(call->expected, data, len))
			continue;
		call->expected_seen = true;
		call->note = expected_note;
		/* In the next turn, with the rest of the output that is there. */
		session_call_wait(call, 0);
	}
}

/* ---- waiting ---- */

/* Returns the note of a call whose wait is over: why it was no longer, if code runs on. */
static const char *note_at_end(const struct call *call)
{
	const struct session_language *lang = call->lang;

	if (call->note != NULL || !call->wait_cut || session_first_exec(lang) == NULL ||
	    runner_wait(lang->runner) != NULL)
		return call->note;
	return "calls are answered within PTYCELL_CALL_BUDGET here, which is shorter than the wait "
	       "asked for";
}

static void on_wait_over(struct loop_timer *timer)
{
	struct call *call = container_of(timer, struct call, wait);
	struct execution *exec = call->exec;
	const struct execution *ahead =
		exec != NULL && exec->state == EXEC_SUBMITTED ? session_exec_ahead(exec) : NULL;

	if (exec != NULL && exec->state == EXEC_UNREPORTED)
		answer_with_end(call);
	else if (ahead != NULL)
		session_exec_withdraw(exec, ahead);
	else if (!session_call_ask_again(call))
		answer_now(call, note_at_end(call));
}

void session_call_wait(struct call *call, uint64_t ms)
{
	struct loop *loop = call->lang->session->host->loop;

	loop_timer_start(loop, &call->wait, loop_now(loop) + ms, on_wait_over);
}

void session_call_cancel(struct call *call)
{
	struct execution *exec = call->exec;

	session_call_forget(call);
	if (exec != NULL)
		session_exec_cancel(exec);
}

char *session_call_progress(const struct call *call, uint64_t *ret_ms)
{
	*ret_ms = loop_now(call->lang->session->host->loop) - call->since_ms;
	return runner_last_line(call->lang->runner);
}

/* ---- observing ---- */

static bool has_unreported(const struct session_language *lang)
{
	return session_first_exec(lang) != NULL || !list_empty(&lang->unreported);
}

static int ask_for_language(const struct session *s, struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < s->language_count; i++)
		if (has_unreported(&s->languages[i]))
			buf_putf(&names, "%s%s", names.len > 0 ? ", " : "",
				 runner_language(s->languages[i].runner)->name);
	return err_set(err, ERR_INVALID, "arguments.language is needed: there is news of %s",
		       buf_str(&names));
}

/*
 * Chooses a language for a request that names none: the one with something to report, else the one
 * used last. ERR_INVALID when several have something to report.
 */
static struct session_language *choose_language(struct session *s, const struct language *language,
						struct err *err)
{
	struct session_language *found = NULL;
	size_t news = 0;

	for (size_t i = 0; i < s->language_count; i++) {
		struct session_language *lang = &s->languages[i];

		if (language != NULL && runner_language(lang->runner) != language)
			continue;
		if (has_unreported(lang)) {
			found = lang;
			news++;
		} else if (news == 0 && lang->last.number > (found ? found->last.number : 0)) {
			found = lang;
		}
	}
	if (found == NULL)
		(void)err_set(err, ERR_NOT_FOUND, "no %s%scell has run in session '%s'%s",
			      language != NULL ? language->name : "", language != NULL ? " " : "",
			      s->id, s->resumed ? " since it was resumed" : "");
	return news > 1 && ask_for_language(s, err) < 0 ? NULL : found;
}

static int act_on_request(struct session_language *lang, const struct interact_request *request,
			  struct err *err)
{
	static const enum runner_stop stops[] = {
		[INTERACT_INTERRUPT] = RUNNER_STOP_INTERRUPT,
		[INTERACT_TERMINATE] = RUNNER_STOP_TERMINATE,
		[INTERACT_KILL] = RUNNER_STOP_KILL,
	};

	if (request->action == INTERACT_ANSWER || request->action == INTERACT_ASK)
		return 0; /* whether the answer can be typed is not an error of the request */
	if (request->action == INTERACT_TYPE)
		return runner_type(lang->runner, request->typing, request->text, request->text_len,
				   err);
	if (request->action != INTERACT_WAIT && !session_exec_stop_queued(lang))
		runner_stop(lang->runner, stops[request->action]);
	return 0;
}

/* Expects a text, also in output that is there and was not reported. */
static void start_expecting(struct call *call, const char *text, size_t len)
{
	cleanup_buf struct buf held = BUF_INIT(BUF_UNBOUNDED);

	call->expected = expect_new(text, len);
	runner_read_held(call->lang->runner, &held, NULL);
	call->expected_seen = expect_feed(call->expected, buf_str(&held), held.len);
	call->note = call->expected_seen ? expected_note : NULL;
}

/* Returns whether there is something to wait for. */
static bool has_reason_to_wait(const struct call *call, const struct interact_request *request)
{
	const struct session_language *lang = call->lang;

	if (call->note != NULL)
		return false;
	if (session_first_exec(lang) == NULL)
		return call->expected != NULL && list_empty(&lang->unreported);
	return (request->action != INTERACT_WAIT && request->action != INTERACT_ASK) ||
	       runner_wait(lang->runner) == NULL;
}

struct call *session_interact(struct session *s, const struct interact_request *request,
			      call_done_fn *done, void *data, struct err *err)
{
	struct session_language *lang = choose_language(s, request->language, err);
	struct call *call;

	if (lang == NULL)
		return NULL;
	session_touch(s);
	if (act_on_request(lang, request, err) < 0)
		return NULL;
	call = session_call_new(lang, NULL, done, data);
	call->note = request->note;
	call->wait_cut = request->wait_cut;
	if (request->action == INTERACT_ANSWER &&
	    !session_answer_wait(lang, &request->wait, request->text, request->text_len))
		call->note = "the user's answer came too late for it";
	if (request->action == INTERACT_ASK)
		session_may_ask_again(call, &request->wait);
	if (request->until != NULL)
		start_expecting(call, request->until, request->until_len);
	session_call_wait(call, has_reason_to_wait(call, request) ? request->wait_ms : 0);
	return call;
}

/* Code that was refused at once has a call whose answer is due in the next turn. */
static struct call *first_unanswered_call(const struct session_language *lang)
{
	list_for_each (const struct execution, exec, &lang->unreported, node)
		if (exec->call != NULL)
			return exec->call;
	return NULL;
}

void session_language_release(struct session_language *lang)
{
	struct call *call;

	while ((call = first_unanswered_call(lang)) != NULL)
		answer_with_end(call);
	while (!list_empty(&lang->observers))
		answer_now(list_entry(lang->observers.next, struct call, node), NULL);
	move_all(&lang->answered, &lang->unreported);
	list_for_each (struct execution, exec, &lang->unreported, node)
		session_exec_free(exec);
}
