/* SPDX-License-Identifier: MIT */
/*
 * runner_stop.c - ends a cell early. `steps` is an escalation from SIGINT to SIGKILL; how far it
 * goes depends on who asked. SIGINT keeps the interpreter's state, so everything stronger comes
 * only when that did not help, and for a deadline after the cell's grace period.
 */
#include <signal.h>

#include "base/mem.h"
#include "runner/runner_internal.h"

enum { STRAY_PROGRAMS = 2 }; /* programs that come and go, as a sign of a loop */

enum whom { FOREGROUND, TREE };

/* The grace period precedes STEP_TERMINATE. */
enum step { STEP_INTERRUPT, STEP_AGAIN, STEP_DUMP, STEP_TERMINATE, STEP_KILL, STEP_GIVE_UP };

/*
 * SIGINT keeps the state. The later steps follow only if it did not help; repeats() decides on the
 * second.
 */
static const struct {
	unsigned after_ms;
	int signo; /* 0: none */
	enum whom whom;
} steps[] = {
	[STEP_INTERRUPT] = { 0, SIGINT, FOREGROUND },
	[STEP_AGAIN] = { RUNNER_SECOND_INTERRUPT_MS, SIGINT, FOREGROUND },
	[STEP_DUMP] = { RUNNER_DUMP_MS, 0, TREE },
	[STEP_TERMINATE] = { RUNNER_TERMINATE_MS, SIGTERM, TREE },
	[STEP_KILL] = { RUNNER_KILL_MS, SIGKILL, TREE },
	[STEP_GIVE_UP] = { RUNNER_GIVE_UP_MS, 0, TREE }, /* code may have stopped its supervisor */
};

static uint64_t grace_ms(const struct runner *r)
{
	uint64_t part = r->cell->timeout_ms / RUNNER_GRACE_PART;

	if (part > RUNNER_GRACE_MS)
		part = RUNNER_GRACE_MS;
	return part > r->c.stop_grace_ms ? part : r->c.stop_grace_ms;
}

bool runner_in_grace(const struct runner *r)
{
	return r->cell != NULL && r->grace_end_ms != 0 && loop_now(r->c.loop) < r->grace_end_ms;
}

/*
 * Code that saves its data because of an interrupt would lose that by a second one. The second
 * therefore waits for the end of the grace period.
 */
static bool repeats(const struct runner *r)
{
	bool grace_over = r->grace_end_ms != 0 && !runner_in_grace(r);

	return grace_over ||
	       (r->stop == RUNNER_STOP_DEADLINE && r->c.stop_grace_ms == 0 && !r->interrupt_taken);
}

/*
 * An interrupt that came just before a system call is noticed only when the call returns. Only the
 * driver's own handler reports that it ran, and code or a library may have another. So the
 * interpreter gets a signal that ends the call and that no handler acts on.
 */
static void wake(struct runner *r)
{
	int signo = r->c.language->wake_signal;

	if (signo != 0 && !r->interrupt_taken)
		interpreter_signal(r->interpreter, signo);
}

static void interrupt_foreground(struct runner *r)
{
	struct runner_stray *stray = &r->stray;
	bool was_own = interpreter_foreground(r->interpreter) == stray->own;

	interpreter_signal_foreground(r->interpreter, SIGINT);
	stray->taker = interpreter_foreground(r->interpreter);
	stray->seen = stray->taker;
	stray->arrived = was_own && stray->taker == stray->own;
}

/*
 * A program that begins or ends at that moment takes an interrupt with it, and a shell's loop of
 * short programs continues. Such a loop shows by its process groups: each is seen once. A group
 * that is seen again may be handling the interrupt, or come after it, and must not be interrupted.
 * Code with a handler of its own goes on after an interrupt, and may run programs that save
 * something.
 */
static void check_stray(struct runner *r)
{
	struct runner_stray *stray = &r->stray;
	pid_t group = interpreter_foreground(r->interpreter);
	pid_t before = stray->seen;

	stray->seen = group;
	if (group == before) {
		if (group != stray->own)
			stray->gone = 0;
		return;
	}
	if (before != stray->own && before != stray->taker)
		stray->gone++;
	if (stray->gone >= STRAY_PROGRAMS && !r->interrupt_taken && !r->handles_interrupts)
		interrupt_foreground(r);
}

static void send_signal(struct runner *r, enum step step)
{
	int signo = steps[step].signo;

	if (step == STEP_DUMP)
		runner_ask_dump(r); /* to learn where it hangs */
	if (signo == 0)
		return;
	if (step == STEP_AGAIN) {
		interpreter_signal(r->interpreter, SIGCONT); /* code may have stopped it */
		if (!repeats(r)) {
			wake(r);
			return;
		}
		runner_send_interrupt(r);
	}
	if (steps[step].whom == FOREGROUND)
		interrupt_foreground(r);
	else
		interpreter_signal_tree(r->interpreter, signo);
}

static void on_grace_end(struct loop_timer *timer);
static void on_escalation(struct loop_timer *timer);

static uint64_t next_step_ms(const struct runner *r)
{
	return r->escalation_ms + steps[r->step].after_ms;
}

/* Waits for the next step, or for a poll before it. */
static void wait_for_step(struct runner *r)
{
	uint64_t next_ms = next_step_ms(r);
	uint64_t look_ms = loop_now(r->c.loop) + RUNNER_STRAY_MS;

	if (r->step <= STEP_DUMP && !r->stray.arrived && look_ms < next_ms)
		next_ms = look_ms;
	loop_timer_start(r->c.loop, &r->escalation, next_ms, on_escalation);
}

/*
 * Returns what ends the cell. Node's synchronous read of the terminal, for example, returns only
 * with input. Code or a program may be saving data because of its interrupt.
 */
static const char *way_out(const struct runner *r)
{
	if (r->wait.kind == WAIT_SURE)
		return "it did not react to the interrupt while it reads the terminal: input, or key ctrl-d, ends the read";
	return r->interrupt_taken
		       ? "the interrupt has reached its code, which has not ended yet and may save something: action wait waits for that, one more interrupt stops it, and action terminate ends the interpreter with its variables"
		       : "the interrupt has not ended it yet: action wait waits for its end, and action terminate ends the interpreter with its variables";
}

/* Interrupts did not help: returns whether the cell may run on all the same. */
static bool may_run_on(struct runner *r)
{
	if (r->stop == RUNNER_STOP_INTERRUPT) {
		r->c.handlers->stuck(r, way_out(r));
		return true;
	}
	if (r->stop != RUNNER_STOP_DEADLINE || r->c.stop_grace_ms == 0)
		return false;
	if (runner_in_grace(r)) { /* a caller interrupted it once more */
		loop_timer_start(r->c.loop, &r->escalation, r->grace_end_ms, on_grace_end);
		r->c.handlers->stuck(r, way_out(r));
		return true;
	}
	if (r->grace_end_ms != 0)
		return false;
	r->grace_end_ms = loop_now(r->c.loop) + grace_ms(r);
	loop_timer_start(r->c.loop, &r->escalation, r->grace_end_ms, on_grace_end);
	r->c.handlers->overdue(r);
	return true;
}

static void on_escalation(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, escalation);
	enum step step = (enum step)r->step;

	if (r->interpreter == NULL)
		return;
	if (loop_now(r->c.loop) < next_step_ms(r)) {
		check_stray(r);
		wait_for_step(r);
		return;
	}
	if (step == STEP_GIVE_UP) {
		runner_abort(r, "the code did not react to interrupts and could not be killed");
		return;
	}
	if (step == STEP_TERMINATE && may_run_on(r))
		return;
	r->step = step + 1;
	send_signal(r, step);
	wait_for_step(r);
}

/* Continues from `step`, in place of what was under way. */
static void escalate_from(struct runner *r, enum step step)
{
	uint64_t now = loop_now(r->c.loop);

	r->step = step;
	r->escalation_ms = now - steps[step].after_ms;
	on_escalation(&r->escalation);
}

static void on_grace_end(struct loop_timer *timer)
{
	escalate_from(container_of(timer, struct runner, escalation), STEP_AGAIN);
}

/* Interrupts once the interpreter is ready for it. */
static void first_interrupt(struct runner *r)
{
	unsigned int settle_ms = r->c.language->settle_ms;
	uint64_t ready_ms = r->started_us / 1000 + settle_ms;

	r->interrupt_taken = false;
	r->stray.gone = 0;
	if (settle_ms == 0 || loop_now(r->c.loop) >= ready_ms) {
		escalate_from(r, STEP_INTERRUPT);
		return;
	}
	r->step = STEP_INTERRUPT;
	r->escalation_ms = ready_ms;
	loop_timer_start(r->c.loop, &r->escalation, ready_ms, on_escalation);
}

/* In the grace period the caller also learns if this does not help. */
static void interrupt_again(struct runner *r)
{
	runner_send_interrupt(r);
	if (runner_in_grace(r) && r->step == STEP_TERMINATE)
		first_interrupt(r);
	else
		send_signal(r, STEP_INTERRUPT);
}

static void interrupt_cell(struct runner *r, enum runner_stop stop)
{
	bool under_way = loop_timer_active(&r->escalation);

	if (stop > r->stop)
		r->stop = stop;
	if (under_way && stop == RUNNER_STOP_INTERRUPT) /* a caller asks for one more */
		interrupt_again(r);
	if (under_way)
		return;
	if (r->step == STEP_TERMINATE && stop == RUNNER_STOP_DEADLINE) {
		escalate_from(r, STEP_TERMINATE); /* interrupts did not help */
		return;
	}
	runner_type_clear(r);
	/* Before the signal: a driver that has not read the cell yet learns which one it is for. */
	runner_send_interrupt(r);
	first_interrupt(r);
}

void runner_stop(struct runner *r, enum runner_stop stop)
{
	static const char *const reasons[] = {
		[RUNNER_STOP_TERMINATE] = "the interpreter was terminated on request",
		[RUNNER_STOP_KILL] = "the interpreter was killed on request",
	};

	if (r->cell == NULL) {
		if (stop >= RUNNER_STOP_TERMINATE && r->state == RUNNER_READY)
			runner_abort(r, reasons[stop]);
		return;
	}
	if (r->stop == RUNNER_STOP_NONE)
		r->stop_ms = loop_now(r->c.loop);
	if (stop < RUNNER_STOP_TERMINATE) {
		interrupt_cell(r, stop);
	} else if (stop > r->stop) {
		r->stop = stop;
		escalate_from(r, stop == RUNNER_STOP_KILL ? STEP_KILL : STEP_TERMINATE);
	}
}

static void on_dump_time_over(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, escalation);
	cleanup_free char *why = mem_steal(&r->abort_reason);

	if (r->state == RUNNER_READY || r->state == RUNNER_BUSY)
		runner_abort(r, why);
}

bool runner_dump_stack(struct runner *r)
{
	if (r->state != RUNNER_BUSY || r->c.language->dump_signal == 0)
		return false;
	send_signal(r, STEP_DUMP);
	return true;
}

void runner_abort_with_dump(struct runner *r, const char *why)
{
	if (r->c.language->dump_signal == 0) {
		runner_abort(r, why);
		return;
	}
	if (r->abort_reason != NULL)
		return;
	r->abort_reason = xstrdup(why);
	send_signal(r, STEP_DUMP);
	loop_timer_start(r->c.loop, &r->escalation,
			 loop_now(r->c.loop) + RUNNER_TERMINATE_MS - RUNNER_DUMP_MS,
			 on_dump_time_over);
}

void runner_stop_interrupting(struct runner *r)
{
	if (r->stop != RUNNER_STOP_INTERRUPT)
		return;
	loop_timer_stop(&r->escalation);
	r->stop = RUNNER_STOP_NONE;
	r->step = STEP_INTERRUPT;
}

const char *runner_stop_reason(const struct runner *r)
{
	if (r->step <= STEP_TERMINATE)
		return NULL;
	switch (r->stop) {
	case RUNNER_STOP_TERMINATE:
		return "it was terminated on request";
	case RUNNER_STOP_KILL:
		return "it was killed on request";
	default:
		return "the code did not react to interrupts and was killed";
	}
}

static void on_unchecked(struct loop_timer *timer)
{
	runner_stop(container_of(timer, struct runner, deadline), RUNNER_STOP_DEADLINE);
}

static void on_deadline(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, deadline);

	r->timed_out = true;
	/* The supervisor that answers may have been stopped by code. */
	loop_timer_start(r->c.loop, timer, loop_now(r->c.loop) + RUNNER_INPUT_CHECK_MS,
			 on_unchecked);
	runner_watch_last(r);
}

void runner_start_clock(struct runner *r, uint64_t left_ms)
{
	/* loop_now() may lie far back. */
	r->clock_end_ms = loop_update_now(r->c.loop) + left_ms;
	loop_timer_start(r->c.loop, &r->deadline, r->clock_end_ms, on_deadline);
}
