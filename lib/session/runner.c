/* SPDX-License-Identifier: MIT */
#include "session/runner.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/loop.h"
#include "proc/sandbox_client.h"
#include "runtime/frame.h"
#include "session/environment.h"
#include "session/transcript.h"
#include "text/clean.h"
#include "text/utf8.h"
#include "workspace/spool.h"

extern char **environ;

enum {
	TERMINAL_ROWS = 40,
	TERMINAL_COLUMNS = 120,
	NONCE_LEN = 32,
	READ_SLICE = 64 << 10, /* bytes taken in one callback, so that nobody starves */
	READ_CHUNK = 16 << 10,
	CLOSED_GRACE_MS = 500,  /* between a closed control channel and the news of the end */
	STARTUP_TEXT_MAX = 500, /* characters of what a broken interpreter printed */
};

struct run {
	struct list node;
	struct runner *runner;
	void *data;
	char *code;
	size_t code_len;
	uint64_t timeout_ms;
};

struct runner {
	struct runner_context c;
	enum runner_state state;
	struct interpreter *interpreter;
	struct loop_io pty_io;
	struct loop_io control_io;
	struct frame_reader *frames;
	struct buf to_driver;
	char nonce[NONCE_LEN + 1];
	char *path;
	const char *reason;
	char *version;

	struct list queue;
	struct run *current; /* NULL: none, or nobody waits for it any more */
	struct cell *cell;
	struct transcript *transcript;
	struct transcript *background; /* between cells */
	uint64_t started_us;
	bool held; /* until runner_next */

	struct loop_timer deadline;
	struct loop_timer escalation;
	struct loop_timer ready;
	struct loop_timer gone_timer;
	struct loop_timer closed_timer;
	struct loop_defer kick; /* starts the next cell outside of callbacks */
	size_t step;
	uint64_t first_interrupt_ms;
	bool timed_out;
	bool cancelled;
	void (*children_counted)(struct runner *runner, int count);
};

static void begin_ending(struct runner *r);
static void set_state(struct runner *r, enum runner_state next);

static void run_free(struct run *run)
{
	list_remove(&run->node);
	free(run->code);
	free(run);
}

/* ---- small accessors ---- */

void *runner_owner(const struct runner *r)
{
	return r->c.owner;
}

const struct language *runner_language(const struct runner *r)
{
	return r->c.language;
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

bool runner_busy(const struct runner *r)
{
	return r->cell != NULL || r->held || !list_empty(&r->queue) ||
	       r->state == RUNNER_STARTING || r->state == RUNNER_ENDING;
}

size_t runner_queued(const struct runner *r)
{
	size_t count = 0;

	for (const struct list *node = r->queue.next; node != &r->queue; node = node->next)
		count++;
	return count;
}

static void set_state(struct runner *r, enum runner_state next)
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
}

/* ---- writing to the driver ---- */

/* Never blocks and never waits: what the socket does not take stays queued. */
static void flush_to_driver(struct runner *r)
{
	int fd = interpreter_control(r->interpreter);

	while (r->to_driver.len > 0) {
		ssize_t n =
			send(fd, r->to_driver.data, r->to_driver.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break; /* full, or dead: then its end is told elsewhere */
		buf_consume(&r->to_driver, (size_t)n);
	}
	if (loop_io_active(&r->control_io))
		loop_io_set_events(&r->control_io,
				   r->to_driver.len > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void send_ack(struct runner *r, uint64_t id)
{
	frame_begin(&r->to_driver, "ack", id, 0);
	flush_to_driver(r);
}

/* ---- the pty ---- */

static struct transcript *sink(struct runner *r)
{
	if (r->transcript != NULL)
		return r->transcript;
	if (r->background == NULL)
		r->background = transcript_new(
			spool_new(r->c.workspace, 0, r->c.language->name, r->c.spool_max));
	return r->background;
}

/* Reads until the pty is empty, or `max` bytes. */
static void drain_pty(struct runner *r, size_t max)
{
	char chunk[READ_CHUNK];
	size_t got = 0;
	cleanup_buf struct buf answers;

	if (r->interpreter == NULL || interpreter_pty(r->interpreter) < 0)
		return;
	while (got < max) {
		ssize_t n = read(interpreter_pty(r->interpreter), chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		transcript_feed(sink(r), chunk, (size_t)n);
		got += (size_t)n;
	}
	if (got == 0)
		return;
	buf_init(&answers, BUF_UNBOUNDED);
	transcript_take_answers(sink(r), &answers);
	if (answers.len > 0)
		(void)!write(interpreter_pty(r->interpreter), answers.data, answers.len);
}

static void on_pty(struct loop_io *io, uint32_t events)
{
	struct runner *r = container_of(io, struct runner, pty_io);

	drain_pty(r, READ_SLICE);
	if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		loop_io_stop(&r->pty_io); /* no slave is open: nothing will come any more */
}

/* ---- the end of a cell ---- */

static void add_background(struct runner *r, struct cell *cell)
{
	struct transcript_text shown;

	if (r->background == NULL)
		return;
	buf_puts(&cell->text, "[background output since the last cell]\n");
	shown = transcript_render(r->background, (size_t)r->c.output_chars / 4, &cell->text);
	if (cell->text.len > 0 && cell->text.data[cell->text.len - 1] != '\n')
		buf_puts(&cell->text, "\n");
	buf_puts(&cell->text, "[output of this cell]\n");
	cell->background = shown.total;
	transcript_free(r->background);
	r->background = NULL;
}

static void take_output(struct runner *r, struct cell *cell)
{
	struct transcript_text shown =
		transcript_render(r->transcript, (size_t)r->c.output_chars, &cell->text);

	cell->text_shown = shown.shown;
	cell->text_total = shown.total;
	if (shown.spooled)
		cell->spool_path = xstrdup(transcript_spool_path(r->transcript));
	if (cell->was_waiting) {
		cleanup_buf struct buf prompt;

		buf_init(&prompt, BUF_UNBOUNDED);
		transcript_last_line(r->transcript, &prompt);
		cell->prompt = buf_steal(&prompt);
	}
	transcript_free(r->transcript);
	r->transcript = NULL;
}

/* Ends the running cell: the one place where that happens. */
static void end_cell(struct runner *r, enum cell_state state)
{
	struct cell *cell = r->cell;
	struct run *run = r->current;
	void *data = run != NULL ? run->data : NULL;

	loop_timer_stop(&r->deadline);
	loop_timer_stop(&r->escalation);
	if (state == CELL_INTERRUPTED && r->timed_out)
		state = CELL_TIMED_OUT;
	else if (state == CELL_INTERRUPTED && !r->cancelled)
		state = CELL_RAISED; /* its own KeyboardInterrupt */
	else if (state == CELL_DIED && r->timed_out)
		state = CELL_TIMED_OUT;
	cell->state = state;
	cell->elapsed_us = clock_us() - r->started_us;
	take_output(r, cell);
	r->cell = NULL;
	r->current = NULL;
	r->held = true;
	if (run != NULL)
		run_free(run);
	r->c.handlers->ended(r, cell, data);
}

static void fail_run(struct runner *r, struct run *run, const char *problem)
{
	struct cell *cell = cell_new(r->c.handlers->next_number(r), r->c.language->name);
	void *data = run->data;

	run_free(run);
	cell->state = CELL_NOT_STARTED;
	cell->problem = xstrdup(problem);
	r->held = true;
	r->c.handlers->ended(r, cell, data);
}

static void fail_queue(struct runner *r, const char *problem)
{
	while (!list_empty(&r->queue))
		fail_run(r, list_entry(r->queue.next, struct run, node), problem);
}

/* ---- interrupting ---- */

/* SIGINT keeps the state; what follows only when that did not help. */
static const struct {
	unsigned after_ms;
	int signo;
	bool whole_tree;
} escalation_steps[] = {
	{ 0, SIGINT, false },
	{ RUNNER_SECOND_INTERRUPT_MS, SIGINT, false },
	{ RUNNER_DUMP_MS, SIGUSR2, true }, /* the driver's faulthandler shows where it hangs */
	{ RUNNER_TERMINATE_MS, SIGTERM, true },
	{ RUNNER_KILL_MS, SIGKILL, true },
};

static void on_escalation(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, escalation);
	size_t step = r->step++;

	if (r->interpreter == NULL)
		return;
	if (escalation_steps[step].whole_tree)
		interpreter_signal_tree(r->interpreter, escalation_steps[step].signo);
	else
		interpreter_signal_foreground(r->interpreter, escalation_steps[step].signo);
	if (r->step < ARRAY_SIZE(escalation_steps))
		loop_timer_start(r->c.loop, &r->escalation,
				 r->first_interrupt_ms + escalation_steps[r->step].after_ms,
				 on_escalation);
}

static void interrupt(struct runner *r)
{
	if (loop_timer_active(&r->escalation) || r->step > 0)
		return; /* under way */
	r->first_interrupt_ms = loop_now(r->c.loop);
	on_escalation(&r->escalation);
}

static void on_input_checked(struct interpreter *interpreter, enum input_wait waits)
{
	struct runner *r = interpreter_data(interpreter);

	if (r->cell == NULL || !r->timed_out)
		return;
	drain_pty(r, RUNNER_DRAIN_MAX);
	r->cell->was_waiting = waits != INPUT_NOT_AWAITED;
	interrupt(r);
}

static void on_deadline(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, deadline);

	r->timed_out = true;
	interpreter_check_input(r->interpreter, on_input_checked);
}

/* ---- starting a cell ---- */

static void send_exec(struct runner *r, const struct run *run)
{
	cleanup_free char *name = xasprintf("<cell %ju>", (uintmax_t)r->cell->number);

	frame_begin(&r->to_driver, "exec", r->cell->number, 2);
	frame_add(&r->to_driver, "name", name, strlen(name));
	frame_add(&r->to_driver, "code", run->code, run->code_len);
	flush_to_driver(r);
}

static void start_cell(struct runner *r)
{
	struct run *run = list_entry(r->queue.next, struct run, node);
	struct err err;

	list_remove(&run->node);
	set_state(r, RUNNER_BUSY);
	drain_pty(r, RUNNER_DRAIN_MAX); /* what came before is not this cell's */
	r->current = run;
	r->cell = cell_new(r->c.handlers->next_number(r), r->c.language->name);
	r->cell->timeout_ms = run->timeout_ms;
	r->cell->ran = true;
	r->timed_out = false;
	r->cancelled = false;
	r->step = 0;
	add_background(r, r->cell);
	r->transcript = transcript_new(
		spool_new(r->c.workspace, r->cell->number, r->c.language->name, r->c.spool_max));
	if (interpreter_reset_terminal(r->interpreter, &err) < 0)
		log_debug("runner", "terminal: %s", err.msg);
	r->c.handlers->starting(r);
	r->started_us = clock_us();
	loop_timer_start(r->c.loop, &r->deadline, loop_now(r->c.loop) + run->timeout_ms,
			 on_deadline);
	send_exec(r, run);
}

/* ---- the interpreter's life ---- */

static char *startup_text(struct runner *r)
{
	cleanup_buf struct buf raw;
	cleanup_buf struct buf line;

	buf_init(&raw, BUF_UNBOUNDED);
	buf_init(&line, BUF_UNBOUNDED);
	drain_pty(r, RUNNER_DRAIN_MAX);
	if (r->background != NULL)
		(void)transcript_render(r->background, STARTUP_TEXT_MAX, &raw);
	clean_line(&line, buf_str(&raw), raw.len, STARTUP_TEXT_MAX);
	return buf_steal(&line);
}

static void forget_interpreter(struct runner *r)
{
	loop_io_stop(&r->pty_io);
	loop_io_stop(&r->control_io);
	loop_timer_stop(&r->ready);
	loop_timer_stop(&r->gone_timer);
	loop_timer_stop(&r->closed_timer);
	interpreter_free(r->interpreter);
	r->interpreter = NULL;
	frame_reader_free(r->frames);
	r->frames = NULL;
	buf_clear(&r->to_driver);
	transcript_free(r->background);
	r->background = NULL;
}

static void on_kick(struct loop_defer *defer);

static void finish_ending(struct runner *r)
{
	forget_interpreter(r);
	set_state(r, RUNNER_IDLE);
	loop_defer_start(r->c.loop, &r->kick, on_kick);
}

static void on_gone_timer(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, gone_timer);

	log_warn("runner", "%s: its processes do not end", r->c.language->name);
	finish_ending(r);
}

/* Kills what is left and waits for it. */
static void begin_ending(struct runner *r)
{
	set_state(r, RUNNER_ENDING);
	loop_timer_stop(&r->ready);
	loop_timer_stop(&r->closed_timer);
	loop_io_stop(&r->control_io);
	interpreter_signal_tree(r->interpreter, SIGKILL);
	loop_timer_start(r->c.loop, &r->gone_timer, loop_now(r->c.loop) + RUNNER_GONE_MS,
			 on_gone_timer);
}

/* The state is lost: ends the cell, if one runs, and the interpreter. */
static void lose(struct runner *r, const char *why)
{
	cleanup_free char *reason = xstrdup(why);
	struct cell *cell = r->cell;

	if (r->state == RUNNER_ENDING)
		return;
	drain_pty(r, RUNNER_DRAIN_MAX);
	begin_ending(r);
	r->c.handlers->lost(r, reason);
	if (cell != NULL) {
		cell->interpreter_lost = true;
		if (cell->problem == NULL)
			cell->problem = xstrdup(reason);
		end_cell(r, CELL_DIED);
	}
}

static void fail_start(struct runner *r, const char *what)
{
	cleanup_free char *said = startup_text(r);
	cleanup_free char *problem = NULL;

	problem = xasprintf("%s (%s) %s%s%s%s. Set %s to another one", r->c.language->name, r->path,
			    what, said[0] != '\0' ? "; it printed '" : "", said,
			    said[0] != '\0' ? "'" : "", r->c.language->env_override);
	begin_ending(r);
	fail_queue(r, problem);
}

static void on_ready_timeout(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, ready);

	fail_start(r, "did not become ready in 10 s");
}

/* ---- frames ---- */

static void on_ready_frame(struct runner *r, const struct frame *frame)
{
	cleanup_free char *nonce = frame_text(frame, "nonce");
	cleanup_free char *proto = frame_text(frame, "proto");

	if (nonce == NULL || proto == NULL || !str_eq(nonce, r->nonce) || !str_eq(proto, "1")) {
		fail_start(r, "answered with a wrong handshake");
		return;
	}
	free(r->version);
	r->version = frame_text(frame, "version");
	loop_timer_stop(&r->ready);
	set_state(r, RUNNER_READY);
	loop_defer_start(r->c.loop, &r->kick, on_kick);
}

static void insert_figure_note(struct runner *r, const char *file)
{
	cleanup_buf struct buf note;

	buf_init(&note, BUF_UNBOUNDED);
	buf_puts(&note, "[figure");
	if (file != NULL) {
		buf_puts(&note, ": output/");
		clean_word(&note, file, strlen(file), CLEAN_QUOTE_MAX);
	}
	buf_puts(&note, "]");
	transcript_insert(r->transcript, note.data, note.len);
}

static void on_display_frame(struct runner *r, const struct frame *frame)
{
	const struct frame_part *image = frame_part(frame, "image/png");
	const struct frame_part *text = frame_part(frame, "text/plain");

	if (image == NULL)
		image = frame_part(frame, "image/jpeg");
	if (image != NULL) {
		char *file = frame_text(frame, "file");

		insert_figure_note(r, file);
		cell_add_image(r->cell, image->data, image->len, file);
	} else if (text != NULL) {
		transcript_insert(r->transcript, text->data, text->len);
	}
	send_ack(r, frame->id);
}

static void take_text(char **slot, const struct frame *frame, const char *part)
{
	char *text = frame_text(frame, part);

	if (text == NULL)
		return;
	free(*slot);
	*slot = text;
}

static enum cell_state state_of_done(struct cell *cell, const char *status)
{
	if (str_eq(status, "error"))
		return CELL_RAISED;
	if (str_eq(status, "interrupted"))
		return CELL_INTERRUPTED;
	cell->has_exit_code = str_eq(status, "exit");
	return CELL_DONE;
}

static void on_done_frame(struct runner *r, const struct frame *frame)
{
	cleanup_free char *status = frame_text(frame, "status");
	cleanup_free char *code = frame_text(frame, "code");
	cleanup_free char *children = frame_text(frame, "children");
	struct cell *cell = r->cell;
	enum cell_state state = state_of_done(cell, status != NULL ? status : "ok");

	take_text(&cell->error_name, frame, "ename");
	take_text(&cell->error_text, frame, "evalue");
	take_text(&cell->traceback, frame, "traceback");
	take_text(&cell->missing_module, frame, "missing");
	take_text(&cell->names, frame, "names");
	cell->exit_code = code != NULL ? (int)strtol(code, NULL, 10) : 0;
	cell->children = children != NULL ? (int)strtol(children, NULL, 10) : 0;
	set_state(r, RUNNER_READY);
	end_cell(r, state);
}

/* Output written before the frame comes before it. */
static void on_frame(struct runner *r, const struct frame *frame)
{
	drain_pty(r, RUNNER_DRAIN_MAX);
	if (r->state == RUNNER_STARTING) {
		if (str_eq(frame->type, "ready"))
			on_ready_frame(r, frame);
		else if (!str_eq(frame->type, "log"))
			fail_start(r, "spoke before it was ready");
		return;
	}
	if (r->cell == NULL || frame->id != r->cell->number) {
		if (str_eq(frame->type, "display"))
			send_ack(r, frame->id); /* late, from a cell that is over */
		return;
	}
	if (str_eq(frame->type, "display"))
		on_display_frame(r, frame);
	else if (str_eq(frame->type, "result"))
		take_text(&r->cell->value, frame, "text/plain");
	else if (str_eq(frame->type, "done"))
		on_done_frame(r, frame);
	else
		lose(r, "the code sent an unknown message on the interpreter's control channel");
}

static void handle_frames(struct runner *r)
{
	while (r->state != RUNNER_ENDING && r->state != RUNNER_IDLE) {
		const struct frame *frame;
		struct err err;
		int got = frame_reader_next(r->frames, &frame, &err);

		if (got == 0)
			return;
		if (got < 0) {
			log_debug("runner", "control channel: %s", err.msg);
			if (r->state == RUNNER_STARTING)
				fail_start(r, "broke the control channel");
			else
				lose(r, "the code broke the interpreter's control channel");
			return;
		}
		on_frame(r, frame);
	}
}

static void on_closed_timer(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, closed_timer);

	if (r->state == RUNNER_STARTING)
		fail_start(r, "closed the control channel");
	else
		lose(r, "the code closed the interpreter's control channel");
}

/* A process that ends closes it too, and how it ended is told a moment later by the minder. */
static void on_control_closed(struct runner *r)
{
	loop_io_stop(&r->control_io);
	loop_timer_start(r->c.loop, &r->closed_timer, loop_now(r->c.loop) + CLOSED_GRACE_MS,
			 on_closed_timer);
}

/* Reads without room for descriptors: those sent along are dropped by the kernel. */
static void read_control(struct runner *r, size_t max)
{
	size_t got = 0;

	while (got < max && r->frames != NULL && r->state != RUNNER_ENDING) {
		char chunk[READ_CHUNK];
		ssize_t n = recv(interpreter_control(r->interpreter), chunk, sizeof(chunk),
				 MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			on_control_closed(r);
			return;
		}
		got += (size_t)n;
		frame_reader_feed(r->frames, chunk, (size_t)n);
		handle_frames(r);
	}
}

static void on_control(struct loop_io *io, uint32_t events)
{
	struct runner *r = container_of(io, struct runner, control_io);

	if ((events & EPOLLOUT) != 0)
		flush_to_driver(r);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		read_control(r, READ_SLICE);
}

/* ---- what the minder tells ---- */

static void on_started(struct interpreter *interpreter)
{
	struct runner *r = interpreter_data(interpreter);
	cleanup_free char *output = environment_output_folder(r->c.workspace);
	struct err err;

	if (loop_io_start(r->c.loop, &r->pty_io, interpreter_pty(interpreter), EPOLLIN, on_pty,
			  &err) < 0 ||
	    loop_io_start(r->c.loop, &r->control_io, interpreter_control(interpreter), EPOLLIN,
			  on_control, &err) < 0) {
		fail_start(r, err.msg);
		return;
	}
	r->c.language->boot(&r->to_driver);
	frame_begin(&r->to_driver, "hello", 0, 3);
	frame_add(&r->to_driver, "proto", "1", 1);
	frame_add(&r->to_driver, "nonce", r->nonce, NONCE_LEN);
	frame_add(&r->to_driver, "output", output, strlen(output));
	flush_to_driver(r);
}

static void on_failed(struct interpreter *interpreter, const struct err *err)
{
	struct runner *r = interpreter_data(interpreter);
	cleanup_free char *problem = xasprintf("%s (%s) could not be started: %s",
					       r->c.language->name, r->path, err->msg);

	forget_interpreter(r);
	set_state(r, RUNNER_IDLE);
	fail_queue(r, problem);
}

static char *describe_end(int wait_status)
{
	if (WIFSIGNALED(wait_status)) {
		const char *name = sigabbrev_np(WTERMSIG(wait_status));

		return xasprintf("the interpreter was killed by signal %d (SIG%s)%s",
				 WTERMSIG(wait_status), name != NULL ? name : "?",
				 WTERMSIG(wait_status) == SIGKILL
					 ? ", as the kernel does when memory runs out"
					 : "");
	}
	return xasprintf("the interpreter exited with code %d", WEXITSTATUS(wait_status));
}

static void on_exited(struct interpreter *interpreter, int wait_status)
{
	struct runner *r = interpreter_data(interpreter);
	cleanup_free char *why = describe_end(wait_status);

	if (r->state == RUNNER_ENDING)
		return;
	if (loop_io_active(&r->control_io))
		read_control(r, FRAME_TOTAL_MAX); /* what it said before its end */
	if (r->state == RUNNER_STARTING) {
		fail_start(r, why);
		return;
	}
	if (r->state == RUNNER_ENDING)
		return;
	if (r->cell != NULL && WIFSIGNALED(wait_status))
		r->cell->signal = WTERMSIG(wait_status);
	if (r->cell != NULL && WIFEXITED(wait_status)) {
		r->cell->has_exit_code = true;
		r->cell->exit_code = WEXITSTATUS(wait_status);
	}
	if (r->step > 0 && r->cell != NULL) {
		lose(r, "the code did not react to interrupts and was killed");
		return;
	}
	lose(r, why);
}

static void on_gone(struct interpreter *interpreter)
{
	struct runner *r = interpreter_data(interpreter);

	if (r->state == RUNNER_ENDING)
		finish_ending(r);
}

static const struct interpreter_handlers minder_handlers = {
	.started = on_started, .failed = on_failed, .exited = on_exited, .gone = on_gone
};

static void make_nonce(char nonce[NONCE_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[NONCE_LEN / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	for (size_t i = 0; i < sizeof(random); i++) {
		nonce[2 * i] = digits[random[i] >> 4];
		nonce[2 * i + 1] = digits[random[i] & 15];
	}
	nonce[NONCE_LEN] = '\0';
}

static int start_interpreter(struct runner *r, struct err *err)
{
	struct interpreter_path path;
	struct interpreter_spec spec = { .rows = TERMINAL_ROWS, .columns = TERMINAL_COLUMNS };
	char **argv;
	char **envp;

	if (language_locate(r->c.language, environ, &path, err) < 0)
		return -1;
	free(r->path);
	r->path = path.path;
	r->reason = path.reason;
	make_nonce(r->nonce);
	r->frames = frame_reader_new();
	argv = environment_argv(r->c.language, r->path);
	envp = environment_new(r->c.language, r->c.workspace, r->path);
	spec.argv = argv;
	spec.envp = envp;
	spec.cwd = workspace_data_path(r->c.workspace);
	r->interpreter = interpreter_start(r->c.sandbox, &spec, &minder_handlers, r);
	environment_free(argv);
	environment_free(envp);
	set_state(r, RUNNER_STARTING);
	loop_timer_start(r->c.loop, &r->ready, loop_now(r->c.loop) + RUNNER_READY_MS,
			 on_ready_timeout);
	return 0;
}

/* The next step for a queue that has something in it. */
static void advance(struct runner *r)
{
	struct err err;

	if (list_empty(&r->queue) || r->held)
		return;
	if (r->state == RUNNER_READY)
		start_cell(r);
	else if (r->state == RUNNER_IDLE && start_interpreter(r, &err) < 0)
		fail_run(r, list_entry(r->queue.next, struct run, node), err.msg);
}

static void on_kick(struct loop_defer *defer)
{
	advance(container_of(defer, struct runner, kick));
}

void runner_next(struct runner *r)
{
	r->held = false;
	loop_defer_start(r->c.loop, &r->kick, on_kick);
}

struct run *runner_submit(struct runner *r, const char *code, size_t len, uint64_t timeout_ms,
			  void *data, struct err *err)
{
	struct run *run;

	if (runner_queued(r) >= RUNNER_QUEUE_MAX) {
		(void)err_set(err, ERR_BUSY, "%d cells are already waiting for %s in this session",
			      RUNNER_QUEUE_MAX, r->c.language->name);
		return NULL;
	}
	run = xcalloc(1, sizeof(*run));
	list_init(&run->node);
	run->runner = r;
	run->data = data;
	run->code = xmemdup(code, len);
	run->code_len = len;
	run->timeout_ms = timeout_ms;
	list_append(&r->queue, &run->node);
	loop_defer_start(r->c.loop, &r->kick, on_kick); /* never answers before it returned */
	return run;
}

void run_cancel(struct run *run)
{
	struct runner *r = run->runner;

	if (run == r->current) {
		r->current = NULL;
		r->cancelled = true;
		interrupt(r);
	}
	run_free(run);
}

static void on_children_counted(struct interpreter *interpreter, int count)
{
	struct runner *r = interpreter_data(interpreter);

	r->children_counted(r, count);
}

bool runner_count_children(struct runner *r, void (*done)(struct runner *runner, int count))
{
	if (r->state != RUNNER_READY && r->state != RUNNER_BUSY)
		return false;
	r->children_counted = done;
	interpreter_count_children(r->interpreter, on_children_counted);
	return true;
}

void runner_set_limits(struct runner *r, uint64_t spool_max, uint64_t output_chars)
{
	r->c.spool_max = spool_max;
	r->c.output_chars = output_chars;
}

struct runner *runner_new(const struct runner_context *context)
{
	struct runner *r = xcalloc(1, sizeof(*r));

	r->c = *context;
	list_init(&r->queue);
	buf_init(&r->to_driver, BUF_UNBOUNDED);
	return r;
}

void runner_free(struct runner *r)
{
	struct list *node;
	struct list *next;

	if (r == NULL)
		return;
	list_for_each (node, next, &r->queue)
		run_free(list_entry(node, struct run, node));
	if (r->current != NULL)
		run_free(r->current);
	loop_timer_stop(&r->deadline);
	loop_timer_stop(&r->escalation);
	loop_defer_stop(&r->kick);
	forget_interpreter(r);
	transcript_free(r->transcript);
	cell_free(r->cell);
	buf_release(&r->to_driver);
	free(r->path);
	free(r->version);
	free(r);
}
