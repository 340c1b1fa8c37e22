/* SPDX-License-Identifier: MIT */
/*
 * runner_wait.c - finds out whether a cell waits for input, by polling. The supervisor looks into
 * the system calls of its process tree, which takes 15 to 300 us, so polls become rarer while
 * nothing is printed. A wait counts only when several polls agree: a thread may pass through a read
 * without waiting there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runner/runner_internal.h"

enum {
	AGREED = 2,          /* polls in a row that must agree */
	AGREED_RESTLESS = 4, /* when the waiting thread wakes now and then */
	GUESS_MS = 500,      /* without output before a wait is guessed */
	BRIEF_MS = 1000,  /* without output for a brief wait: a program that ends reads once more */
	WAITING_MS = 500, /* between polls while it waits */
	LOOKS_A_SECOND = 16,   /* polls that find no wait, each of which takes 15-300 us */
	CLOCK_LEFT_MIN = 1000, /* ms that a cell has at least after a wait */
};

/* Times from the last output to the polls. A line without an end looks like a prompt. */
static const unsigned int quiet_ms[] = { 30, 60, 120, 250 };
static const unsigned int prompt_ms[] = { 15, 30, 60, 120, 250 };

static void on_poll_due(struct loop_timer *timer);

static unsigned int delay(const struct runner *r)
{
	size_t i = r->watch.looks;

	if (r->wait.kind != WAIT_NONE)
		return WAITING_MS;
	if (transcript_has_open_line(r->transcript))
		return i < ARRAY_SIZE(prompt_ms) ? prompt_ms[i]
						 : prompt_ms[ARRAY_SIZE(prompt_ms) - 1];
	return i < ARRAY_SIZE(quiet_ms) ? quiet_ms[i] : quiet_ms[ARRAY_SIZE(quiet_ms) - 1];
}

static void schedule(struct runner *r)
{
	uint64_t now = loop_now(r->c.loop);
	/* an open line then decides whether it is time */
	unsigned int first = r->watch.looks == 0 ? prompt_ms[0] : delay(r);
	uint64_t at = r->watch.quiet_since_ms + first;

	/* The first polls count from the last output, the others from one another. */
	if (at <= now)
		at = now + delay(r);
	if (now >= r->watch.second_ms + 1000) {
		r->watch.second_ms = now;
		r->watch.second_looks = 0;
	}
	if (r->watch.second_looks >= LOOKS_A_SECOND && at < r->watch.second_ms + 1000)
		at = r->watch.second_ms + 1000;
	loop_timer_start(r->c.loop, &r->watch.timer, at, on_poll_due);
}

/* ---- a wait begins and ends ---- */

static bool is_debugger(const char *prompt)
{
	static const char *const prompts[] = { "(Pdb)", "(Pdb++)", "ipdb>",
					       "(gdb)", "(lldb)",  "debug>" };

	for (size_t i = 0; i < ARRAY_SIZE(prompts); i++)
		if (strncmp(prompt, prompts[i], strlen(prompts[i])) == 0)
			return true;
	return strncmp(prompt, "Browse[", 7) == 0;
}

/*
 * Returns whether an event loop reads: it may wait for other things as well, and shows no prompt.
 */
static bool reads_unasked(const struct runner *r, const struct input_state *look)
{
	return look->watches && !look->raw && !look->secret &&
	       !transcript_has_open_line(r->transcript);
}

static void begin_wait(struct runner *r, const struct input_state *look)
{
	cleanup_buf struct buf prompt = BUF_INIT(BUF_UNBOUNDED);
	uint64_t now = loop_now(r->c.loop);

	transcript_settle(r->transcript);
	transcript_last_line(r->transcript, &prompt);
	free(r->wait.prompt);
	r->wait.prompt = buf_steal(&prompt);
	r->wait.number++;
	r->watch.second_looks = 0;
	r->wait.kind = look->wait == INPUT_MAYBE_AWAITED || reads_unasked(r, look) ? WAIT_GUESSED
										   : WAIT_SURE;
	r->wait.secret = look->secret;
	r->wait.thread = look->thread;
	r->wait.who = look->child ? WAITER_PROGRAM : WAITER_INTERPRETER;
	if (is_debugger(r->wait.prompt))
		r->wait.who = WAITER_DEBUGGER;
	memcpy(r->wait.program, look->name, sizeof(r->wait.program));
	runner_stop_interrupting(r);
	/*
	 * The clock stands still for a sure wait. A guess may be wrong, and the cell must not run
	 * without end.
	 */
	if (r->wait.kind == WAIT_SURE) {
		r->wait.clock_left_ms = r->clock_end_ms > now + CLOCK_LEFT_MIN
						? r->clock_end_ms - now
						: CLOCK_LEFT_MIN;
		loop_timer_stop(&r->deadline);
	}
	r->c.handlers->waits(r);
}

static void end_wait(struct runner *r)
{
	if (r->wait.kind == WAIT_SURE && r->cell != NULL)
		runner_start_clock(r, r->wait.clock_left_ms);
	if (r->wait.kind == WAIT_NONE)
		return;
	r->wait.kind = WAIT_NONE;
	r->c.handlers->resumed(r);
}

/* ---- polling ---- */

/* Input that was typed and not read yet will end the wait. */
static bool input_pending(const struct runner *r)
{
	return !list_empty(&r->typed) || interpreter_unread_input(r->interpreter);
}

static bool same_wait(const struct input_state *a, const struct input_state *b)
{
	return a->wait == b->wait && a->thread == b->thread;
}

/*
 * An event loop that read the terminal once keeps it in its set. If the driver does not report
 * whether it reads, it counts as waiting when it shows a prompt.
 */
static bool is_leftover(const struct runner *r, const struct input_state *look)
{
	if (look->watches && !look->child && r->watch.reading == READING_NO)
		return true;
	if (!look->child && r->watch.reading == READING_YES &&
	    r->watch.reading_since == r->cell->number)
		return false;
	return reads_unasked(r, look);
}

static bool is_wait(const struct runner *r, const struct input_state *look)
{
	uint64_t silence_ms = loop_now(r->c.loop) - r->watch.quiet_since_ms;
	bool quiet = silence_ms >= GUESS_MS;

	if (r->watch.agreed < AGREED || input_pending(r) || (look->brief && silence_ms < BRIEF_MS))
		return false;
	if (look->wait == INPUT_AWAITED)
		return !is_leftover(r, look) && (quiet || !reads_unasked(r, look)) &&
		       (r->watch.rested || r->watch.agreed >= AGREED_RESTLESS);
	return look->wait == INPUT_MAYBE_AWAITED && quiet &&
	       (look->secret || transcript_has_open_line(r->transcript));
}

static void note_poll(struct runner *r, const struct input_state *look)
{
	bool same = same_wait(look, &r->watch.last);

	r->watch.agreed = same ? r->watch.agreed + 1 : 1;
	r->watch.rested = same && look->ran == r->watch.last.ran;
	r->watch.last = *look;
	r->watch.looks++;
}

static void report_stopped(struct runner *r, const struct input_state *look)
{
	if (look->wait != INPUT_AWAITED_BACKGROUND || r->watch.agreed != AGREED)
		return;
	r->c.handlers->stuck(r, "a background process of it wants input from the terminal, which "
				"only the foreground gets, and was stopped");
}

static void on_polled(struct interpreter *interpreter, const struct input_state *look)
{
	struct runner *r = interpreter_data(interpreter);
	uint64_t output = r->watch.output;

	if (r->cell == NULL || r->watch.cell != r->cell->number)
		return;
	runner_drain(r, RUNNER_DRAIN_MAX);
	if (output != r->watch.output) { /* the cell continued meanwhile */
		schedule(r);
		return;
	}
	note_poll(r, look);
	schedule(r);
	if (r->wait.kind == WAIT_NONE) {
		report_stopped(r, look);
		if (is_wait(r, look))
			begin_wait(r, look);
	} else if (look->wait == INPUT_NOT_AWAITED || look->thread != r->wait.thread) {
		end_wait(r);
	}
}

static void on_poll_due(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, watch.timer);

	if (loop_now(r->c.loop) < r->watch.quiet_since_ms + delay(r)) {
		schedule(r); /* there was output since */
		return;
	}
	r->watch.second_looks++;
	r->watch.cell = r->cell->number;
	interpreter_check_input(r->interpreter, on_polled);
}

static void restart_polling(struct runner *r)
{
	r->watch.looks = 0;
	r->watch.agreed = 0;
	r->watch.last = (struct input_state){ .thread = 0 };
	r->watch.quiet_since_ms = loop_now(r->c.loop);
}

void runner_watch_output(struct runner *r)
{
	bool was_quiet = r->watch.looks > 0;

	if (r->cell == NULL)
		return;

	r->watch.output++;
	end_wait(r);
	restart_polling(r);
	if (was_quiet) /* otherwise a timer runs already */
		schedule(r);
}

void runner_watch_reads(struct runner *r, const struct frame *frame)
{
	cleanup_free char *now = frame != NULL ? frame_text(frame, "now") : NULL;

	if (now == NULL)
		r->watch.reading = READING_UNKNOWN;
	else
		r->watch.reading = str_eq(now, "1") ? READING_YES : READING_NO;
	r->watch.reading_since = r->cell != NULL ? r->cell->number : 0;
}

void runner_watch_typed(struct runner *r)
{
	runner_watch_output(r);
	schedule(r);
}

void runner_watch_start(struct runner *r)
{
	r->wait.kind = WAIT_NONE;
	r->wait.number = 0;
	restart_polling(r);
	schedule(r);
}

static void forget_answer(struct runner *r)
{
	if (r->answer != NULL)
		explicit_bzero(r->answer, r->answer_len);
	free(r->answer);
	r->answer = NULL;
}

void runner_watch_stop(struct runner *r)
{
	loop_timer_stop(&r->watch.timer);
	forget_answer(r);
	if (r->wait.kind != WAIT_NONE) {
		r->wait.kind = WAIT_NONE;
		r->c.handlers->resumed(r);
	}
	free(r->wait.prompt);
	r->wait.prompt = NULL;
}

/* ---- answers from the user ---- */

static bool still_waits(const struct runner *r, const struct input_state *look)
{
	return r->wait.kind == WAIT_SURE && r->wait.number == r->answer_wait &&
	       look->wait == INPUT_AWAITED && look->thread == r->wait.thread && !look->secret;
}

static void on_answer_poll(struct interpreter *interpreter, const struct input_state *look)
{
	struct runner *r = interpreter_data(interpreter);
	struct err err;
	bool typed = false;

	if (r->cell == NULL || r->answer == NULL)
		return;
	runner_drain(r, RUNNER_DRAIN_MAX);
	if (still_waits(r, look))
		typed = runner_type(r, TYPE_LINE, r->answer, r->answer_len, &err) == 0;
	forget_answer(r);
	if (!typed)
		r->c.handlers->unanswered(r);
}

bool runner_answer(struct runner *r, uint64_t wait_number, const char *line, size_t len)
{
	if (r->wait.kind != WAIT_SURE || r->wait.number != wait_number || r->answer != NULL)
		return false;
	r->answer = xmemdup(line, len);
	r->answer_len = len;
	r->answer_wait = wait_number;
	interpreter_check_input(r->interpreter, on_answer_poll);
	return true;
}

/* ---- at the deadline ---- */

static void on_deadline_poll(struct interpreter *interpreter, const struct input_state *look)
{
	struct runner *r = interpreter_data(interpreter);

	if (r->cell == NULL || !r->timed_out || r->stop != RUNNER_STOP_NONE)
		return;
	runner_drain(r, RUNNER_DRAIN_MAX);
	if (look->wait == INPUT_AWAITED && !is_leftover(r, look) && !input_pending(r)) {
		r->timed_out = false;
		begin_wait(r, look);
		return;
	}
	runner_stop(r, RUNNER_STOP_DEADLINE);
}

void runner_watch_last(struct runner *r)
{
	interpreter_check_input(r->interpreter, on_deadline_poll);
}

const struct runner_wait *runner_wait(const struct runner *r)
{
	return r->wait.kind != WAIT_NONE ? &r->wait : NULL;
}
