/* SPDX-License-Identifier: MIT */
/*
 * quitting.c - waits for interpreters that end by themselves. The runners know which have not ended
 * yet, so none are counted here: an interpreter that was not asked may end meanwhile, too.
 */
#include "session/quitting.h"

#include "base/mem.h"
#include "runner/runner.h"
#include "session/session_internal.h"

static void on_over(struct loop_defer *defer)
{
	struct quitting *q = container_of(defer, struct quitting, step);

	loop_timer_stop(&q->timer);
	q->over(q->session);
}

/* Ends the wait in the next turn: the runners may be in use in this one. */
static void end_wait(struct quitting *q)
{
	loop_defer_start(q->session->host->loop, &q->step, on_over);
}

static bool any_left(const struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_quits(s->languages[i].runner))
			return true;
	return false;
}

void quitting_report_left(const struct quitting *q)
{
	const struct session *s = q->session;

	for (size_t i = 0; !q->interrupted && i < s->language_count; i++) {
		struct runner *runner = s->languages[i].runner;
		cleanup_free char *how = xasprintf("the %s interpreter did not end in time",
						   runner_language(runner)->name);

		if (runner_quits(runner))
			q->cut(q->session, runner, how);
	}
}

static void on_timer(struct loop_timer *timer)
{
	struct quitting *q = container_of(timer, struct quitting, timer);
	const struct session *s = q->session;

	if (q->interrupted) {
		end_wait(q);
		return;
	}
	quitting_report_left(q);
	q->interrupted = true;
	for (size_t i = 0; i < s->language_count; i++)
		runner_interrupt_quit(s->languages[i].runner);
	loop_timer_start(s->host->loop, timer, q->end_ms, on_timer);
}

static void give_time(struct quitting *q, uint64_t ms)
{
	struct loop *loop = q->session->host->loop;
	uint64_t now = loop_now(loop);

	q->end_ms = now + ms;
	loop_timer_start(loop, &q->timer, q->interrupted ? q->end_ms : now + ms / 2, on_timer);
}

void quitting_begin(struct quitting *q, uint64_t ms)
{
	give_time(q, ms);
	if (!any_left(q->session)) /* they were lost as they were asked */
		end_wait(q);
}

void quitting_hurry(struct quitting *q, uint64_t ms)
{
	if (q->end_ms > loop_now(q->session->host->loop) + ms)
		give_time(q, ms);
}

void quitting_note_end(struct quitting *q, struct runner *runner, const char *why)
{
	if (!q->interrupted && !runner_exited(runner))
		q->cut(q->session, runner, why);
	if (q->end_ms > 0 && !any_left(q->session)) /* else quitting_begin looks */
		end_wait(q);
}

void quitting_stop(struct quitting *q)
{
	loop_timer_stop(&q->timer);
	loop_defer_stop(&q->step);
}
