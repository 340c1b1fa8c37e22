/* SPDX-License-Identifier: MIT */
/*
 * session_exec.c - moves executions through their states. Code that would wait behind a cell whose
 * own call was answered is refused at once: it is unknown how long that cell takes, and the model
 * can act on a refusal.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "session/session_internal.h"
#include "session/session_values.h"
#include "session/watchdog.h"
#include "workspace/keeper.h"

const char *session_exec_folder(const struct execution *exec)
{
	const struct keeper *keeper = exec->lang->session->keeper;

	if (exec->saving)
		return keeper_planned(keeper);
	return exec->kept_count > 0 ? keeper_folder(keeper) : NULL;
}

static void report_over(const struct execution *exec)
{
	struct session *s = exec->lang->session;
	const struct exec_result result = {
		.session = s,
		.cell = exec->cell,
		.generation = exec->generation,
		.saved = session_exec_folder(exec),
		.saving = exec->saving,
		.keep_problem = exec->keep_problem,
		.keep_renamed = exec->keep_renamed,
		.keep_left = exec->keep_left,
	};

	s->host->cell_over(s->host->owner, &result);
}

void session_exec_free(struct execution *exec)
{
	list_remove(&exec->node);
	cell_free(exec->cell);
	free(exec->keep_problem);
	free(exec->keep_renamed);
	free(exec->keep_left);
	free(exec->keeps);
	free(exec);
}

static struct execution *exec_new(struct session_language *lang)
{
	struct execution *exec = xcalloc(1, sizeof(*exec));

	list_init(&exec->node);
	exec->lang = lang;
	return exec;
}

/* ---- states ---- */

void session_exec_set_state(struct execution *exec, enum exec_state next)
{
	static const unsigned may_follow[] = {
		[EXEC_NEW] = BIT(EXEC_SUBMITTED) | BIT(EXEC_UNREPORTED),
		[EXEC_SUBMITTED] = BIT(EXEC_SCANNING) | BIT(EXEC_UNREPORTED),
		[EXEC_SCANNING] = BIT(EXEC_SAVING) | BIT(EXEC_UNREPORTED),
		[EXEC_SAVING] = BIT(EXEC_INSPECTING) | BIT(EXEC_LINKING) | BIT(EXEC_UNREPORTED),
		[EXEC_INSPECTING] = BIT(EXEC_LINKING) | BIT(EXEC_UNREPORTED),
		[EXEC_LINKING] = BIT(EXEC_UNREPORTED),
		[EXEC_UNREPORTED] = 0,
	};
	_Static_assert(ARRAY_SIZE(may_follow) == EXEC_UNREPORTED + 1, "every state has its moves");
	struct session_language *lang = exec->lang;

	assert(may_follow[exec->state] & BIT(next));
	exec->state = next;
	list_remove(&exec->node);
	list_append(next == EXEC_UNREPORTED ? &lang->unreported : &lang->session->execs,
		    &exec->node);
}

struct execution *session_exec_in_state(const struct session *s, enum exec_state state,
					const struct execution *after)
{
	struct list *node = after != NULL ? after->node.next : s->execs.next;

	for (; node != &s->execs; node = node->next) {
		struct execution *exec = list_entry(node, struct execution, node);

		if (exec->state == state)
			return exec;
	}
	return NULL;
}

/* ---- ending ---- */

static void remember_last(struct session_language *lang, const struct cell *cell)
{
	lang->last.number = cell->number;
	lang->last.state = cell->state;
	lang->last.elapsed_us = cell->elapsed_us;
}

void session_exec_over(struct execution *exec)
{
	struct session_language *lang = exec->lang;

	session_touch(lang->session);
	session_exec_set_state(exec, EXEC_UNREPORTED);
	report_over(exec);
	if (lang->session->watchdog != NULL)
		watchdog_note_answer(lang->session->watchdog, exec->cell);
	if (exec->cell->state == CELL_NOT_STARTED && exec->cancelled) {
		session_exec_free(exec);
		return;
	}
	if (exec->cell->state != CELL_NOT_STARTED)
		remember_last(lang, exec->cell);
	session_answer_waiters(lang, exec);
}

void session_on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	struct session *s = runner_owner(runner);
	struct execution *exec = data;

	exec->queued = NULL;
	exec->cell = cell_own;
	exec->cell->cancelled = exec->cancelled;
	exec->runner = runner;
	watchdog_explain_cell(s->watchdog, runner, cell_own);
	session_exec_set_state(exec, EXEC_SCANNING);
	if (cell_own->ran)
		session_values_ran(s->values, runner, cell_own->number);
	if (cell_own->ran && s->quit.why != NULL && s->quit.running < cell_own->number)
		s->quit.running = cell_own->number;
	session_inspection_follow(exec);
	session_report_state(s);
	session_scan_next(s);
}

static struct cell *make_not_started(const struct execution *exec, char *why_own)
{
	struct cell *cell = cell_new(exec->number, runner_language(exec->lang->runner)->name);

	cell->state = CELL_NOT_STARTED;
	cell->problem = why_own;
	return cell;
}

void session_end_execs(struct session *s, const char *why)
{
	for (unsigned state = EXEC_SUBMITTED; state < EXEC_UNREPORTED; state++) {
		struct execution *exec;

		while ((exec = session_exec_in_state(s, state, NULL)) != NULL) {
			if (exec->cell == NULL)
				exec->cell = make_not_started(exec, xstrdup(why));
			exec->cell->session_ended = true;
			session_exec_over(exec);
		}
	}
}

/* ---- order of execution ---- */

static struct execution *first_submitted(const struct session_language *lang)
{
	struct execution *exec = NULL;

	do
		exec = session_exec_in_state(lang->session, EXEC_SUBMITTED, exec);
	while (exec != NULL && exec->lang != lang);
	return exec;
}

struct execution *session_first_exec(const struct session_language *lang)
{
	const struct list *execs = &lang->session->execs;
	struct execution *first = NULL;

	list_for_each (struct execution, exec, execs, node)
		if (exec->lang == lang && (first == NULL || exec->state > first->state))
			first = exec;
	return first;
}

uint64_t session_last_number(const struct session_language *lang)
{
	const struct list *execs = &lang->session->execs;
	uint64_t last = lang->last.number;

	list_for_each (const struct execution, exec, execs, node)
		if (exec->lang == lang && exec->state != EXEC_SUBMITTED &&
		    exec->cell->state != CELL_NOT_STARTED && exec->number > last)
			last = exec->number;
	return last;
}

struct execution *session_exec_ahead(const struct execution *exec)
{
	struct execution *first = first_submitted(exec->lang);

	return first != exec ? first : NULL;
}

/* Appends what the blocking cell does. Returns the advice for the model. */
static const char *put_state_and_advice(struct buf *out, const struct runner *runner)
{
	uint64_t grace_s = (runner_grace_left_ms(runner) + 999) / 1000;
	char at[CLOCK_AT_LEN];

	if (runner_wait(runner) != NULL) {
		buf_puts(out, " and waits for input");
		return "Answer it with interact's input or stop it (action interrupt)";
	}
	if (!runner_is_interrupted(runner))
		return "Look at it with interact (action wait) or stop it (action interrupt)";
	buf_puts(out, " and was interrupted, but has not ended yet");
	clock_at(grace_s, at);
	if (grace_s > 0)
		buf_putf(out, " and may take until %s at most", at);
	return "Wait for its end with interact (action wait), or stop it (action interrupt once "
	       "more, or terminate)";
}

static char *why_not_started(const struct execution *ahead)
{
	const struct runner *runner = ahead->lang->runner;
	uint64_t seconds = (runner_elapsed_us(runner) + 999999) / 1000000;
	cleanup_free char *where = runner_where(runner);
	struct buf out;
	const char *advice;

	buf_init(&out, BUF_UNBOUNDED);
	buf_putf(&out, "cell %ju has been running for %ju s", (uintmax_t)ahead->number,
		 (uintmax_t)seconds);
	advice = put_state_and_advice(&out, runner);
	if (where != NULL)
		buf_putf(&out, "; it was last seen %s", where);
	buf_putf(&out, ". %s, then send this code again", advice);
	return buf_steal(&out);
}

void session_exec_withdraw(struct execution *exec, const struct execution *ahead)
{
	exec->cell = make_not_started(exec, why_not_started(ahead));
	runner_withdraw(exec->queued, exec->cell);
	exec->queued = NULL;
	session_exec_over(exec);
}

bool session_exec_stop_queued(struct session_language *lang)
{
	struct execution *exec = session_first_exec(lang);

	if (exec == NULL || exec->state != EXEC_SUBMITTED || runner_current(lang->runner) == exec)
		return false;
	exec->cell = make_not_started(exec, xstrdup("it was stopped before it began"));
	runner_withdraw(exec->queued, exec->cell);
	exec->queued = NULL;
	session_exec_over(exec);
	return true;
}

static void report_asked(const struct execution *exec, const struct exec_request *request,
			 uint64_t timeout_ms)
{
	struct session *s = exec->lang->session;
	const struct exec_asked asked = { .number = exec->number,
					  .language = request->language,
					  .code = request->code,
					  .code_len = request->code_len,
					  .timeout_ms = timeout_ms,
					  .title = request->title,
					  .begins = exec->queued != NULL &&
						    runner_begins(exec->queued) };

	s->host->cell_asked(s->host->owner, s, &asked);
}

/* Returns the cell that blocks new code because its call was answered; NULL when there is none. */
static const struct execution *find_detached(const struct session_language *lang)
{
	const struct execution *running = first_submitted(lang);

	return running != NULL && running->call == NULL && !running->cancelled ? running : NULL;
}

struct call *session_exec(struct session *s, const struct exec_request *request, call_done_fn *done,
			  void *data, struct err *err)
{
	const struct execution *detached;
	struct session_language *lang;
	struct execution *exec;
	uint64_t timeout_ms =
		request->timeout_ms > 0 ? request->timeout_ms : s->limits.exec_timeout * 1000;
	struct call *call;

	if (confinement_check(s->host->confinement, err) < 0)
		return NULL;
	lang = session_language_for(s, request->language);
	exec = exec_new(lang);
	exec->assumed = request->assumed;
	session_touch(s);
	s->last_language = request->language;
	if (request->title != NULL)
		keeper_set_title(s->keeper, request->title);
	detached = find_detached(lang);
	if (detached != NULL) {
		exec->number = session_take_number(s);
		exec->cell = make_not_started(exec, why_not_started(detached));
		exec->cell->code = xmemdup(request->code, request->code_len);
		exec->cell->code_len = request->code_len;
		session_exec_set_state(exec, EXEC_UNREPORTED);
	} else {
		exec->queued = runner_submit(lang->runner, request->code, request->code_len,
					     timeout_ms, exec, err);
		if (exec->queued == NULL) {
			session_exec_free(exec);
			return NULL;
		}
		exec->number = runner_number(exec->queued);
		session_exec_set_state(exec, EXEC_SUBMITTED);
		session_inspection_note_run(s);
	}
	report_asked(exec, request, timeout_ms);
	if (detached != NULL)
		report_over(exec);
	call = session_call_new(lang, exec, done, data);
	call->wait_cut = request->wait_cut;
	session_call_wait(call, detached != NULL ? 0 : request->wait_ms);
	return call;
}

void session_exec_cancel(struct execution *exec)
{
	exec->cancelled = true;
	if (exec->state != EXEC_SUBMITTED)
		return; /* the next answer reports its end */
	if (runner_current(exec->lang->runner) == exec) {
		runner_stop(exec->lang->runner, RUNNER_STOP_INTERRUPT);
		return;
	}
	exec->cell = make_not_started(exec, xstrdup("its call was cancelled before it began"));
	runner_withdraw(exec->queued, exec->cell);
	exec->queued = NULL;
	session_exec_over(exec);
}

bool session_runs_cell(const struct session *s, const struct runner *but)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (s->languages[i].runner != but &&
		    runner_state(s->languages[i].runner) == RUNNER_BUSY)
			return true;
	return false;
}

bool session_runs_code(const struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_active(s->languages[i].runner))
			return true;
	return session_runs_cell(s, NULL);
}
