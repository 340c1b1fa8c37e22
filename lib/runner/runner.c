/* SPDX-License-Identifier: MIT */
/*
 * runner.c - the queue of a runner, and the start and end of its cells. After a cell the runner is
 * held until its owner calls runner_next, because the next cell's changes must not mix with those
 * of this one. Cells start from the loop, never from within a call.
 */
#include "runner/runner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "runner/runner_internal.h"
#include "text/utf8.h"
#include "workspace/spool.h"

/*
 * A small cell takes 70 to 100, and twice that where caches are cold. Waking a processor that fell
 * asleep takes 20 and more.
 */
enum { LINGER_US = 150 };

static void queued_cell_free(struct queued_cell *queued)
{
	list_remove(&queued->node);
	free(queued->code);
	free(queued);
}

/* ---- small accessors ---- */

void runner_set_handlers(struct runner *r, const struct runner_handlers *handlers)
{
	r->c.handlers = handlers;
}

void *runner_owner(const struct runner *r)
{
	return r->c.owner;
}

const struct language *runner_language(const struct runner *r)
{
	return r->c.language;
}

int runner_interpreter_number(const struct runner *r)
{
	return r->interpreter != NULL ? interpreter_number(r->interpreter) : 0;
}

bool runner_active(const struct runner *r)
{
	return r->interpreter != NULL && r->active;
}

enum runner_state runner_state(const struct runner *r)
{
	return r->state;
}

const char *runner_state_name(enum runner_state state)
{
	static const char *const names[] = {
		[RUNNER_IDLE] = "not started", [RUNNER_STARTING] = "starting",
		[RUNNER_READY] = "ready",      [RUNNER_BUSY] = "running",
		[RUNNER_ENDING] = "ending",
	};
	_Static_assert(ARRAY_SIZE(names) == RUNNER_ENDING + 1, "every state has a name");

	return names[state];
}

const char *runner_version(const struct runner *r)
{
	return r->version;
}

const char *runner_path(const struct runner *r)
{
	return r->path;
}

const char *runner_reason(const struct runner *r)
{
	return r->reason;
}

bool runner_channel_closed(const struct runner *r)
{
	return loop_timer_active(&r->closed_timer);
}

bool runner_busy(const struct runner *r)
{
	return r->cell != NULL || r->held || !list_empty(&r->queue) ||
	       r->state == RUNNER_STARTING || r->state == RUNNER_ENDING;
}

size_t runner_queued(const struct runner *r)
{
	return list_len(&r->queue);
}

void runner_set_state(struct runner *r, enum runner_state next)
{
	static const unsigned may_follow[] = {
		[RUNNER_IDLE] = BIT(RUNNER_STARTING),
		[RUNNER_STARTING] = BIT(RUNNER_READY) | BIT(RUNNER_ENDING) | BIT(RUNNER_IDLE),
		[RUNNER_READY] = BIT(RUNNER_BUSY) | BIT(RUNNER_ENDING),
		[RUNNER_BUSY] = BIT(RUNNER_READY) | BIT(RUNNER_ENDING),
		[RUNNER_ENDING] = BIT(RUNNER_IDLE),
	};
	_Static_assert(ARRAY_SIZE(may_follow) == RUNNER_ENDING + 1, "every state has its moves");

	assert(may_follow[r->state] & BIT(next));
	log_debug("runner", "%s: %s -> %s", r->c.language->name, runner_state_name(r->state),
		  runner_state_name(next));
	r->state = next;
	if (r->c.handlers->moved != NULL)
		r->c.handlers->moved(r);
}

/* ---- the end of a cell ---- */

void runner_take_background(struct runner *r, struct cell *cell)
{
	struct transcript_text shown;

	if (r->background == NULL)
		return;
	buf_puts(&cell->text, "[background output since the last cell]\n");
	shown = transcript_render(r->background, (size_t)r->c.output_chars / 4, NULL, &cell->text,
				  NULL);
	if (cell->text.len > 0 && cell->text.data[cell->text.len - 1] != '\n')
		buf_puts(&cell->text, "\n");
	if (cell->ran)
		buf_puts(&cell->text, "[output of this cell]\n");
	cell->background = shown.total;
	cell->lead = cell->text.len;
	transcript_free(r->background);
	r->background = NULL;
}

static void set_spool(struct runner *r, struct cell *cell, const struct transcript_text *shown)
{
	free(cell->spool_path);
	cell->spool_path = shown->spooled ? xstrdup(transcript_spool_path(r->transcript)) : NULL;
	cell->spooled = shown->spooled ? transcript_spooled(r->transcript) : 0;
	cell->clipped = cell->clipped || shown->shown < shown->total;
	cell->spool_cut = shown->spooled && transcript_spool_dropped(r->transcript) > 0;
}

/* Removes stack dumps from the text, where one was requested or the interpreter died. */
static void tidy_text(const struct runner *r, struct cell *cell)
{
	bool asked = r->stop != RUNNER_STOP_NONE || r->abort_reason != NULL;

	if ((asked || cell->interpreter_lost) && r->c.language->tidy_dump != NULL)
		r->c.language->tidy_dump(&cell->text);
	if (r->c.language->name_cell != NULL)
		r->c.language->name_cell(&cell->text, cell->number);
}

/* Returns how many characters an answer has room for, besides background output. */
static size_t room_for_text(const struct runner *r, const struct cell *cell)
{
	size_t max = (size_t)r->c.output_chars;

	return max - size_min(utf8_count(buf_str(&cell->text), cell->text.len), max / 2);
}

static void take_output(struct runner *r, struct cell *cell)
{
	struct transcript_result result;
	struct transcript_text shown;

	cell->wait = NULL;
	if (r->looked)
		cell_forget_shown(cell);
	else
		runner_take_background(r, cell);
	cell->folded = runner_result_make(r, cell, &result);
	shown = transcript_render(r->transcript, room_for_text(r, cell), &result, &cell->text,
				  &cell->result);
	runner_result_release(&result);
	tidy_text(r, cell);
	cell->text_shown = shown.shown;
	cell->text_total = shown.total;
	set_spool(r, cell, &shown);
	transcript_free(r->transcript);
	r->transcript = NULL;
}

static enum cell_state state_now(const struct runner *r)
{
	if (runner_wait(r) != NULL)
		return CELL_WAITING;
	return r->grace_end_ms != 0 ? CELL_TIMED_OUT : CELL_RUNNING;
}

uint64_t runner_grace_left_ms(const struct runner *r)
{
	uint64_t now = loop_now(r->c.loop);

	if (r->cell == NULL || r->grace_end_ms == 0)
		return 0;
	return r->grace_end_ms > now ? r->grace_end_ms - now : 1;
}

bool runner_is_interrupted(const struct runner *r)
{
	return r->cell != NULL && r->stop != RUNNER_STOP_NONE;
}

struct cell *runner_observe(struct runner *r)
{
	struct cell *cell = r->cell;
	struct transcript_text shown;

	if (cell == NULL)
		return NULL;
	runner_drain(r, RUNNER_DRAIN_MAX);
	if (r->looked)
		cell_forget_shown(cell);
	else
		runner_take_background(r, cell);
	r->looked = true;
	shown = transcript_take(r->transcript, room_for_text(r, cell), &cell->text);
	tidy_text(r, cell);
	cell->text_shown = shown.shown;
	cell->text_total = shown.total;
	set_spool(r, cell, &shown);
	cell->state = state_now(r);
	if (cell->state == CELL_TIMED_OUT)
		cell->grace_left_ms = runner_grace_left_ms(r);
	cell->wait = runner_wait(r);
	cell->elapsed_us = clock_us() - r->started_us;
	cell_observe(cell);
	return cell;
}

char *runner_last_line(const struct runner *r)
{
	struct buf line;

	buf_init(&line, BUF_UNBOUNDED);
	if (r->transcript != NULL)
		transcript_end_line(r->transcript, &line);
	return buf_steal(&line);
}

void runner_read_held(struct runner *r, struct buf *out, struct buf *withheld)
{
	const struct transcript *transcript = r->transcript != NULL ? r->transcript : r->background;

	runner_drain(r, RUNNER_DRAIN_MAX);
	if (transcript != NULL)
		transcript_read(transcript, out, withheld);
}

uint64_t runner_elapsed_us(const struct runner *r)
{
	return r->cell != NULL ? clock_us() - r->started_us : 0;
}

void *runner_current(const struct runner *r)
{
	return r->current != NULL ? r->current->data : NULL;
}

/*
 * Makes an interrupt by the cell itself an error: a KeyboardInterrupt, or in a shell, which has an
 * exit status, a program that SIGINT ended.
 */
static void raise_interrupt(struct cell *cell, enum cell_state *ret_state)
{
	*ret_state = CELL_RAISED;
	cell->has_exit_code = cell->exit_code != 0;
}

/* Code that handles no signals may end by the one that requests a stack dump. */
static bool was_ended_by_us(const struct runner *r)
{
	return runner_stop_reason(r) != NULL ||
	       (r->cell->signal != 0 && r->cell->signal == r->c.language->dump_signal);
}

void runner_end_cell(struct runner *r, enum cell_state state)
{
	struct cell *cell = r->cell;
	struct queued_cell *queued = r->current;
	void *data = queued->data;

	loop_timer_stop(&r->deadline);
	loop_timer_stop(&r->flow);
	if (r->abort_reason == NULL) /* else it runs on, for the interpreter */
		loop_timer_stop(&r->escalation);
	runner_watch_stop(r);
	runner_type_clear(r);
	if (state == CELL_INTERRUPTED && r->timed_out)
		state = CELL_TIMED_OUT;
	else if (state == CELL_INTERRUPTED && r->stop == RUNNER_STOP_NONE)
		raise_interrupt(cell, &state);
	else if (state == CELL_DIED && r->timed_out && was_ended_by_us(r))
		state = CELL_TIMED_OUT;
	cell->state = state;
	cell->grace_left_ms = 0;
	cell->overdue = r->timed_out && r->stop != RUNNER_STOP_NONE && state != CELL_TIMED_OUT;
	cell->elapsed_us = clock_us() - r->started_us;
	take_output(r, cell);
	r->cell = NULL;
	r->current = NULL;
	r->held = true;
	queued_cell_free(queued);
	r->c.handlers->ended(r, cell, data);
}

static void take_code(struct cell *cell, struct queued_cell *queued)
{
	cell->code = mem_steal(&queued->code);
	cell->code_len = queued->code_len;
}

static void fail_queued_cell(struct runner *r, struct queued_cell *queued, const char *problem)
{
	struct cell *cell = cell_new(queued->number, r->c.language->name);
	void *data = queued->data;

	take_code(cell, queued);
	queued_cell_free(queued);
	cell->state = CELL_NOT_STARTED;
	cell->problem = xstrdup(problem);
	r->held = true;
	r->c.handlers->ended(r, cell, data);
}

void runner_fail_queue(struct runner *r, const char *problem)
{
	while (!list_empty(&r->queue))
		fail_queued_cell(r, list_entry(r->queue.next, struct queued_cell, node), problem);
}

/* ---- starting a cell ---- */

/* A terminal that a program has stopped (ctrl-s) would block the driver for good. */
static void on_flow(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, flow);

	interpreter_restart_output(r->interpreter);
	loop_timer_start(r->c.loop, timer, loop_now(r->c.loop) + RUNNER_FLOW_MS, on_flow);
}

static void send_exec(struct runner *r)
{
	bool restores = r->current->restores;
	bool again = !restores && r->c.runs_again && r->c.language->told_again;

	frame_begin(&r->to_driver, restores ? "restore" : "exec", r->cell->number, again ? 2 : 1);
	frame_add(&r->to_driver, restores ? "file" : "code", r->cell->code, r->cell->code_len);
	if (again)
		frame_add(&r->to_driver, "again", "1", 1);
	runner_flush(r);
}

void runner_open_transcript(struct runner *r)
{
	r->cursor_keys = (struct cursor_keys){ 0 };
	r->transcript = transcript_new(
		spool_new(r->c.workspace, r->cell->number, r->c.language->name, r->c.spool_max),
		r->c.redact);
}

static void start_cell(struct runner *r)
{
	struct queued_cell *queued = list_entry(r->queue.next, struct queued_cell, node);
	struct err err;

	list_remove(&queued->node);
	runner_set_state(r, RUNNER_BUSY);
	runner_drain(r, RUNNER_DRAIN_MAX); /* earlier output is not this cell's */
	r->current = queued;
	r->cell = cell_new(queued->number, r->c.language->name);
	take_code(r->cell, queued);
	r->cell->timeout_ms = queued->timeout_ms;
	r->cell->holder = r->c.holder;
	r->cell->ran = true;
	r->timed_out = false;
	r->interrupt_taken = false;
	r->looked = false;
	r->stop = RUNNER_STOP_NONE;
	r->step = 0;
	r->grace_end_ms = 0;
	runner_forget_dump(r);
	runner_open_transcript(r);
	if (interpreter_reset_terminal(r->interpreter, &err) < 0)
		log_debug("runner", "terminal: %s", err.msg);
	r->stray.own = interpreter_foreground(r->interpreter);
	r->c.handlers->starting(r);
	r->started_us = clock_us();
	runner_start_clock(r, queued->timeout_ms);
	runner_watch_start(r);
	loop_timer_start(r->c.loop, &r->flow, loop_now(r->c.loop) + RUNNER_FLOW_MS, on_flow);
	send_exec(r);
	loop_linger(r->c.loop, LINGER_US);
}

static void start_unless_refused(struct runner *r)
{
	cleanup_free char *why = r->c.handlers->refusal != NULL ? r->c.handlers->refusal(r) : NULL;

	if (why == NULL)
		start_cell(r);
	else
		fail_queued_cell(r, list_entry(r->queue.next, struct queued_cell, node), why);
}

/* Makes the next step for the queue. */
static void advance(struct runner *r)
{
	struct err err;

	if (list_empty(&r->queue) || r->held || r->quits || r->query != NULL ||
	    loop_timer_active(&r->restart_timer) || runner_channel_closed(r))
		return;
	if (r->state == RUNNER_READY)
		start_unless_refused(r);
	else if (r->state == RUNNER_IDLE && runner_start_interpreter(r, &err) < 0 &&
		 err.code != ERR_BUSY)
		fail_queued_cell(r, list_entry(r->queue.next, struct queued_cell, node), err.msg);
}

static void on_kick(struct loop_defer *defer)
{
	advance(container_of(defer, struct runner, kick));
}

void runner_wake(struct runner *r)
{
	loop_defer_start(r->c.loop, &r->kick, on_kick);
}

void runner_next(struct runner *r)
{
	r->held = false;
	runner_wake(r);
}

struct queued_cell *runner_submit(struct runner *r, const char *code, size_t len,
				  uint64_t timeout_ms, void *data, struct err *err)
{
	struct queued_cell *queued;

	if (runner_queued(r) >= RUNNER_QUEUE_MAX) {
		(void)err_set(err, ERR_BUSY, "%d cells are already waiting for %s in this session",
			      RUNNER_QUEUE_MAX, r->c.language->name);
		return NULL;
	}
	queued = xcalloc(1, sizeof(*queued));
	list_init(&queued->node);
	queued->runner = r;
	queued->data = data;
	queued->code = xmemdup(code, len);
	queued->code_len = len;
	queued->timeout_ms = timeout_ms;
	queued->number = r->c.handlers->next_number(r);
	list_append(&r->queue, &queued->node);
	runner_wake(r); /* never answers before this function returns */
	return queued;
}

struct queued_cell *runner_submit_values(struct runner *r, const char *path, uint64_t timeout_ms,
					 void *data, struct err *err)
{
	struct queued_cell *queued = runner_submit(r, path, strlen(path), timeout_ms, data, err);

	if (queued != NULL)
		queued->restores = true;
	return queued;
}

uint64_t runner_number(const struct queued_cell *queued)
{
	return queued->number;
}

bool runner_begins(const struct queued_cell *queued)
{
	const struct runner *r = queued->runner;

	return r->state == RUNNER_READY && r->queue.next == &queued->node && !r->held &&
	       r->query == NULL;
}

void runner_withdraw(struct queued_cell *queued, struct cell *cell)
{
	assert(queued != queued->runner->current);
	if (cell != NULL)
		take_code(cell, queued);
	queued_cell_free(queued);
}

static void on_children_counted(struct interpreter *interpreter, int count)
{
	runner_end_count(interpreter_data(interpreter), count);
}

void runner_end_count(struct runner *r, int count)
{
	void (*done)(struct runner * runner, int count) = r->children_counted;

	r->children_counted = NULL;
	if (done != NULL)
		done(r, count);
}

bool runner_count_children(struct runner *r, void (*done)(struct runner *runner, int count))
{
	if (r->state != RUNNER_READY && r->state != RUNNER_BUSY)
		return false;
	r->children_counted = done;
	interpreter_count_children(r->interpreter, on_children_counted);
	return true;
}

void runner_move(struct runner *r, struct sandbox *sandbox)
{
	assert(r->state == RUNNER_IDLE);
	r->c.sandbox = sandbox;
}

void runner_set_limits(struct runner *r, uint64_t spool_max, uint64_t output_chars)
{
	r->c.spool_max = spool_max;
	r->c.output_chars = output_chars;
}

void runner_end_again(struct runner *r)
{
	r->c.runs_again = false;
}

struct runner *runner_new(const struct runner_context *context)
{
	struct runner *r = xcalloc(1, sizeof(*r));

	r->c = *context;
	list_init(&r->queue);
	list_init(&r->typed);
	buf_init(&r->to_driver, BUF_UNBOUNDED);
	r->incoming.resume = runner_on_room;
	return r;
}

void runner_end(struct runner *r, const char *why)
{
	runner_end_intake(r);
	if (r->cell == NULL)
		return;
	runner_drain(r, RUNNER_DRAIN_MAX);
	r->cell->session_ended = true;
	r->cell->interpreter_lost = true;
	free(r->cell->problem);
	r->cell->problem = xstrdup(why);
	runner_end_cell(r, CELL_DIED);
}

void runner_free(struct runner *r)
{
	if (r == NULL)
		return;
	r->children_counted = NULL; /* `done` must not be called any more */
	list_for_each (struct queued_cell, queued, &r->queue, node)
		queued_cell_free(queued);
	if (r->current != NULL)
		queued_cell_free(r->current);
	loop_timer_stop(&r->deadline);
	loop_timer_stop(&r->flow);
	loop_timer_stop(&r->escalation);
	mem_cleanup(&r->abort_reason);
	loop_defer_stop(&r->kick);
	runner_end_query(r, NULL, "the session ended");
	loop_defer_stop(&r->kick);
	runner_watch_stop(r);
	runner_type_clear(r);
	runner_forget_interpreter(r);
	transcript_free(r->transcript);
	cell_free(r->cell);
	buf_release(&r->to_driver);
	runner_forget_dump(r);
	free(r->path);
	free(r->compiled);
	free(r->version);
	free(r);
}
