/* SPDX-License-Identifier: MIT */
/*
 * runner_lifecycle.c - starts and ends an interpreter. When a sandbox dies, the interpreter, its
 * supervisor and init end in any order, so a start that fails with them is repeated once in a new
 * sandbox. A closed control channel is no end yet: the process gets some time for its exit status
 * to be reported, then it is killed.
 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "confinement/confinement.h"
#include "proc/sandbox.h"
#include "runner/driver_cache.h"
#include "runner/end_text.h"
#include "runner/environment.h"
#include "runner/runner_internal.h"
#include "runner/session_programs.h"
#include "sandbox/wire/wire.h"
#include "text/sanitize.h"
#include "workspace/workspace.h"

enum {
	CLOSED_GRACE_MS = 500, /* for a process without its control channel to end by itself */
	CLOSED_END_MS = 10000, /* then the supervisor reports its end, also on a busy machine */
	RESTART_WAIT_MS = 20,  /* between the ends of a supervisor and of its sandbox */
	THREAD_STACK_USUAL = 8 << 20,
	THREAD_STACK_MIN = 1 << 20, /* for code that recurses; Python's size on Alpine */
	THREAD_STACK_UNIT = 64 << 10,
	STARTUP_TEXT_MAX = 500, /* characters shown of what a broken interpreter printed */
	CROWD_LOOKS_MAX = 6,    /* after that many it will not become ready */
};

static const char closed_by_code[] = "the code closed the interpreter's control channel";

/* ---- life ---- */

static char *startup_text(struct runner *r)
{
	cleanup_buf struct buf raw = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	runner_drain(r, RUNNER_DRAIN_MAX);
	if (r->background != NULL)
		(void)transcript_render(r->background, STARTUP_TEXT_MAX, NULL, &raw, NULL);
	sanitize_line(&line, buf_str(&raw), raw.len, STARTUP_TEXT_MAX);
	return buf_steal(&line);
}

void runner_forget_interpreter(struct runner *r)
{
	runner_save_fail(r, "the interpreter ended");
	runner_report_late(r);
	loop_io_stop(&r->pty_io);
	loop_io_stop(&r->control_io);
	loop_io_stop(&r->commands_io);
	loop_timer_stop(&r->ready);
	loop_timer_stop(&r->gone_timer);
	loop_timer_stop(&r->closed_timer);
	loop_timer_stop(&r->restart_timer);
	loop_timer_stop(&r->escalation);
	mem_cleanup(&r->abort_reason);
	interpreter_free(r->interpreter);
	r->interpreter = NULL;
	runner_expect_kill(r, NULL);
	runner_end_count(r, 0); /* no children without a supervisor that counts them */
	runner_drop_intake(r);
	frame_reader_free(r->frames);
	r->frames = NULL;
	channel_free(r->link);
	r->link = NULL;
	buf_clear(&r->to_driver);
	transcript_free(r->background);
	r->background = NULL;
	transcript_free(r->startup);
	r->startup = NULL;
}

static void on_restart_timer(struct loop_timer *timer)
{
	runner_wake(container_of(timer, struct runner, restart_timer));
}

/* When a sandbox dies, its supervisor may be reported dead first. */
static void continue_queue(struct runner *r)
{
	if (r->restarting && !sandbox_is_dead(r->c.sandbox))
		loop_timer_start(r->c.loop, &r->restart_timer,
				 loop_now(r->c.loop) + RESTART_WAIT_MS, on_restart_timer);
	else
		runner_wake(r);
}

static void finish_ending(struct runner *r)
{
	runner_forget_interpreter(r);
	runner_set_state(r, RUNNER_IDLE);
	continue_queue(r);
}

static void on_gone_timer(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, gone_timer);

	log_warn("runner", "%s: its processes do not end", r->c.language->name);
	finish_ending(r);
}

/* Kills the remaining processes and waits for their end. */
static void begin_ending(struct runner *r)
{
	runner_set_state(r, RUNNER_ENDING);
	runner_drop_intake(r);
	loop_timer_stop(&r->ready);
	loop_timer_stop(&r->closed_timer);
	loop_timer_stop(&r->escalation);
	mem_cleanup(&r->abort_reason);
	loop_io_stop(&r->control_io);
	loop_io_stop(&r->commands_io);
	interpreter_signal_tree(r->interpreter, SIGKILL);
	loop_timer_start(r->c.loop, &r->gone_timer, loop_now(r->c.loop) + RUNNER_GONE_MS,
			 on_gone_timer);
}

void runner_abort(struct runner *r, const char *why)
{
	cleanup_free char *reason = xstrdup(why);
	struct cell *cell;

	if (r->state == RUNNER_ENDING)
		return;
	runner_end_intake(r);
	cell = r->cell;
	runner_drain(r, RUNNER_DRAIN_MAX);
	begin_ending(r);
	runner_end_query(r, NULL, reason);
	r->c.handlers->lost(r, reason, cell != NULL);
	if (cell != NULL) {
		cell->interpreter_lost = true;
		if (cell->problem == NULL)
			cell->problem = xstrdup(reason);
		runner_end_cell(r, CELL_DIED);
	}
}

void runner_fail_start(struct runner *r, const char *what)
{
	cleanup_free char *printed = startup_text(r);
	cleanup_free char *advice = end_text_advice(r->c.language, printed, r->crowd);
	cleanup_free char *problem = xasprintf("%s (%s) %s%s%s%s. %s", r->c.language->name, r->path,
					       what, printed[0] != '\0' ? "; it printed '" : "",
					       printed, printed[0] != '\0' ? "'" : "", advice);

	begin_ending(r);
	runner_fail_queue(r, problem);
}

static void fail_killed_start(struct runner *r, const char *why)
{
	cleanup_free char *problem =
		xasprintf("%s (%s) could not start: %s", r->c.language->name, r->path, why);

	begin_ending(r);
	runner_fail_queue(r, problem);
}

static bool says_no_process(struct runner *r)
{
	cleanup_buf struct buf raw = BUF_INIT(BUF_UNBOUNDED);

	runner_read_held(r, &raw, NULL);
	return memmem(buf_str(&raw), raw.len, END_TEXT_NO_PROCESS, strlen(END_TEXT_NO_PROCESS)) !=
	       NULL;
}

/* Others of the user come and go: a program that tries again may find room. */
void runner_note_crowd(struct runner *r, enum crowd crowd)
{
	if (crowd != CROWD_NONE || r->crowd == CROWD_SESSION)
		r->crowd = crowd;
	if (r->state != RUNNER_STARTING || crowd == CROWD_NONE)
		r->crowd_looks = 0;
	else if (++r->crowd_looks >= CROWD_LOOKS_MAX ||
		 (crowd == CROWD_SESSION && says_no_process(r)))
		runner_fail_start(r, "cannot start");
}

static void on_ready_timeout(struct loop_timer *timer)
{
	runner_fail_start(container_of(timer, struct runner, ready),
			  "did not become ready in 30 s");
}

void runner_on_ready(struct runner *r, const struct frame *frame)
{
	cleanup_free char *nonce = frame_text(frame, "nonce");
	cleanup_free char *proto = frame_text(frame, "proto");

	if (nonce == NULL || proto == NULL || !str_eq(nonce, r->nonce) || !str_eq(proto, "1")) {
		runner_fail_start(r, "answered with a wrong handshake");
		return;
	}
	free(r->version);
	r->version = frame_text(frame, "version");
	loop_timer_stop(&r->ready);
	r->restarting = false;
	runner_watch_reads(r, NULL);
	r->handles_interrupts = false;
	runner_set_state(r, RUNNER_READY);
	runner_wake(r);
}

static void on_unreported_end(struct loop_timer *timer)
{
	runner_abort(container_of(timer, struct runner, closed_timer), closed_by_code);
}

/*
 * Kills the process. If it ended earlier, that end is reported instead, because only this one is by
 * SIGKILL.
 */
static void on_closed_timer(struct loop_timer *timer)
{
	struct runner *r = container_of(timer, struct runner, closed_timer);

	if (r->state == RUNNER_STARTING) {
		runner_fail_start(r, "closed the control channel");
		return;
	}
	runner_expect_kill(r, closed_by_code);
	interpreter_signal_tree(r->interpreter, SIGKILL);
	loop_timer_start(r->c.loop, &r->closed_timer, loop_now(r->c.loop) + CLOSED_END_MS,
			 on_unreported_end);
}

/*
 * A process that ends closes the channel, too; the supervisor reports its exit status a moment
 * later.
 */
void runner_on_control_closed(struct runner *r)
{
	int grace_ms = r->state == RUNNER_STARTING ? CLOSED_END_MS : CLOSED_GRACE_MS;

	loop_io_stop(&r->control_io);
	loop_timer_start(r->c.loop, &r->closed_timer, loop_now(r->c.loop) + grace_ms,
			 on_closed_timer);
}

/* ---- supervisor handlers ---- */

/*
 * A stored driver outlives this server and serves every session, so no session may influence it.
 * Before its driver an interpreter runs files that may be in a writable share, or to which a
 * variable PYTHON... leads. Such an interpreter compiles its driver itself.
 */
bool runner_keeps_compiled(const struct runner *r)
{
	const struct shares *shares = confinement_facts(r->c.confinement).shares;

	if (r->c.home == NULL || shares_find_writable(shares) != NULL)
		return false;
	for (size_t i = 0; r->c.user_env != NULL && i < r->c.user_env->count; i++)
		if (strncmp(r->c.user_env->items[i].name, "PYTHON", strlen("PYTHON")) == 0)
			return false;
	return true;
}

static void send_boot(struct runner *r)
{
	cleanup_buf struct buf compiled = BUF_INIT(BUF_UNBOUNDED);

	if (r->c.language->boot == NULL)
		return;
	if (runner_keeps_compiled(r))
		driver_cache_get(r->c.home, r->compiled, &compiled);
	r->c.language->boot(&r->to_driver, &compiled);
}

/*
 * Returns the stack size of threads: it counts as memory at once, so the maximum number of threads
 * get half of the memory. Returns NULL where the usual size is small enough.
 */
static char *thread_stack(const struct runner *r)
{
	uint64_t bytes = r->c.processes_max > 0 ? r->c.memory_max / 2 / r->c.processes_max : 0;

	if (!r->c.language->sizes_stacks || r->c.memory_max == 0 || bytes >= THREAD_STACK_USUAL)
		return NULL;
	bytes -= bytes % THREAD_STACK_UNIT;
	return xasprintf("%ju", (uintmax_t)(bytes > THREAD_STACK_MIN ? bytes : THREAD_STACK_MIN));
}

static void send_hello(struct runner *r)
{
	cleanup_free char *output = environment_output_folder(r->c.workspace);
	bool judged = r->c.rules != NULL && r->c.language->add_rules != NULL;
	cleanup_free char *stack = thread_stack(r);

	frame_begin(&r->to_driver, "hello", 0, 3 + (judged ? 2 : 0) + (stack != NULL ? 1 : 0));
	frame_add(&r->to_driver, "proto", "1", 1);
	frame_add(&r->to_driver, "nonce", r->nonce, RUNNER_NONCE_LEN);
	frame_add(&r->to_driver, "output", output, strlen(output));
	if (judged)
		r->c.language->add_rules(&r->to_driver, r->c.rules);
	if (stack != NULL)
		frame_add(&r->to_driver, "stack", stack, strlen(stack));
}

static void on_started(struct interpreter *interpreter)
{
	struct runner *r = interpreter_data(interpreter);
	struct err err;

	if (r->state == RUNNER_ENDING)
		return; /* too late: it is being killed */
	if (loop_io_start(r->c.loop, &r->pty_io, interpreter_pty(interpreter), EPOLLIN,
			  runner_on_pty, &err) < 0 ||
	    loop_io_start(r->c.loop, &r->control_io, interpreter_control(interpreter), EPOLLIN,
			  runner_on_control, &err) < 0) {
		runner_fail_start(r, err.msg);
		return;
	}
	channel_attach(r->link, interpreter_descriptor(interpreter, "aside"));
	if (r->c.language->typed != NULL)
		(void)!write(interpreter_pty(interpreter), r->c.language->typed,
			     strlen(r->c.language->typed));
	if (!interpreter_is_forked(interpreter))
		send_boot(r);
	send_hello(r);
	runner_flush(r);
}

/*
 * The sandbox or the supervisor died, not the interpreter: starts once more, in another sandbox if
 * necessary.
 */
static bool may_restart(struct runner *r)
{
	r->restarting =
		!r->restarting && r->c.handlers->needs_sandbox != NULL &&
		(interpreter_lost_supervisor(r->interpreter) || sandbox_is_dead(r->c.sandbox));
	return r->restarting;
}

static void on_failed(struct interpreter *interpreter, const struct err *err)
{
	struct runner *r = interpreter_data(interpreter);
	bool lacks_process = strstr(err->msg, END_TEXT_NO_PROCESS) != NULL;
	cleanup_free char *advice =
		lacks_process ? end_text_advice(r->c.language, err->msg, r->crowd) : NULL;
	cleanup_free char *problem =
		xasprintf("%s (%s) could not be started: %s%s%s", r->c.language->name, r->path,
			  err->msg, lacks_process ? ". " : "", lacks_process ? advice : "");
	bool again = may_restart(r);

	runner_forget_interpreter(r);
	runner_set_state(r, RUNNER_IDLE);
	if (again)
		continue_queue(r);
	else
		runner_fail_queue(r, problem);
}

/*
 * When a sandbox dies, its supervisor may be reported dead first, or live long enough to report
 * that it killed its own processes.
 */
static bool ended_with_sandbox(const struct runner *r, int wait_status)
{
	return interpreter_lost_supervisor(r->interpreter) ||
	       (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL &&
		sandbox_is_dead(r->c.sandbox));
}

/* Continues after "the interpreter". */
static char *describe_end(const struct runner *r, int wait_status)
{
	if (ended_with_sandbox(r, wait_status))
		return xasprintf("ended with its sandbox, whose own processes were killed%s",
				 confinement_facts(r->c.confinement).rooted
					 ? "; what was in /tmp may be gone, too"
					 : "");
	if (WIFSIGNALED(wait_status)) {
		const char *name = sigabbrev_np(WTERMSIG(wait_status));

		return xasprintf("was killed by signal %d (SIG%s)%s", WTERMSIG(wait_status),
				 name != NULL ? name : "?", end_text_signal(wait_status));
	}
	if (WEXITSTATUS(wait_status) == 126 && r->c.language->exit_126 != NULL)
		return xasprintf("exited with code 126%s", r->c.language->exit_126);
	return xasprintf("exited with code %d", WEXITSTATUS(wait_status));
}

/* Returns why another party killed it; the caller frees the result. Returns NULL if none did. */
static char *find_killer(struct runner *r, int wait_status)
{
	if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != SIGKILL)
		return NULL;
	if (r->expected_kill != NULL)
		return xstrdup(r->expected_kill);
	if (r->c.handlers->killed == NULL || runner_stop_reason(r) != NULL)
		return NULL;
	return r->c.handlers->killed(r);
}

static void on_exited(struct interpreter *interpreter, int wait_status)
{
	struct runner *r = interpreter_data(interpreter);
	cleanup_free char *how = describe_end(r, wait_status);
	cleanup_free char *why = xasprintf("the interpreter %s", how);
	cleanup_free char *killer = NULL;

	if (r->state == RUNNER_ENDING)
		return;
	r->exited = WIFEXITED(wait_status);
	killer = find_killer(r, wait_status);
	if (loop_io_active(&r->control_io))
		runner_read_control(r, true); /* frames from before its end */
	if (r->state == RUNNER_STARTING && may_restart(r)) {
		begin_ending(r);
		return;
	}
	if (r->state == RUNNER_STARTING && killer == NULL) {
		runner_fail_start(r, how);
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
	if (r->state == RUNNER_STARTING)
		fail_killed_start(r, killer);
	else if (killer != NULL)
		runner_abort(r, killer);
	else if (r->cell != NULL && runner_stop_reason(r) != NULL)
		runner_abort(r, runner_stop_reason(r));
	else
		runner_abort(r, why);
}

void runner_kill(struct runner *r, const char *why)
{
	if (r->state == RUNNER_STARTING)
		fail_killed_start(r, why);
	else if (r->state == RUNNER_BUSY)
		runner_abort_with_dump(r, why);
	else if (r->state == RUNNER_READY)
		runner_abort(r, why);
}

void runner_expect_kill(struct runner *r, const char *why)
{
	free(r->expected_kill);
	r->expected_kill = why != NULL ? xstrdup(why) : NULL;
}

static void on_gone(struct interpreter *interpreter)
{
	struct runner *r = interpreter_data(interpreter);

	if (r->state == RUNNER_ENDING)
		finish_ending(r);
}

static const struct interpreter_handlers supervisor_handlers = {
	.started = on_started, .failed = on_failed, .exited = on_exited, .gone = on_gone
};

/* Converts the descriptors of the language to those of a plan. */
static size_t plan_descriptors(const struct language *language,
			       struct plan_descriptor ret[LANGUAGE_DESCRIPTORS_MAX])
{
	static const enum plan_descriptor_kind kinds[] = {
		[LANGUAGE_SOCKET] = PLAN_SOCKET,
		[LANGUAGE_PIPE_IN] = PLAN_PIPE_IN,
		[LANGUAGE_PIPE_OUT] = PLAN_PIPE_OUT,
		[LANGUAGE_PIPE_ASIDE] = PLAN_PIPE_ASIDE,
	};

	assert(language->descriptor_count <= LANGUAGE_DESCRIPTORS_MAX);
	for (size_t i = 0; i < language->descriptor_count; i++) {
		const struct language_descriptor *from = &language->descriptors[i];

		ret[i] = (struct plan_descriptor){ .number = from->number,
						   .kind = kinds[from->kind] };
		assert(strlen(from->name) < sizeof(ret[i].name));
		memcpy(ret[i].name, from->name, strlen(from->name));
	}
	return language->descriptor_count;
}

/* The zygote gets requests to fork by a second descriptor. */
static size_t plan_zygote(struct plan_descriptor ret[LANGUAGE_DESCRIPTORS_MAX])
{
	ret[0] = (struct plan_descriptor){ "control", 3, PLAN_SOCKET };
	ret[1] = (struct plan_descriptor){ "fork", 4, PLAN_PACKETS };
	return 2;
}

/*
 * Only the first interpreter is forked: later the session may have packages of its own, which must
 * be found first.
 */
static const struct interpreter *take_zygote(struct runner *r)
{
	const struct interpreter *zygote = r->c.zygote != NULL ? *r->c.zygote : NULL;

	r->c.zygote = NULL;
	return zygote;
}

static enum environment_network network_of(const struct confinement *confinement)
{
	if (confinement_facts(confinement).tier == POLICY_UNCONFINED)
		return ENVIRONMENT_HOST;
	return confinement_facts(confinement).reaches_hosts ? ENVIRONMENT_PROXY : ENVIRONMENT_NONE;
}

static int leave_dead_sandbox(struct runner *r, struct err *err)
{
	const struct sandbox *dead = r->c.sandbox;

	if (r->c.handlers->needs_sandbox == NULL || !sandbox_is_dead(dead))
		return 0;
	r->c.handlers->needs_sandbox(r);
	return r->c.sandbox != dead ? 0 : err_set(err, ERR_BUSY, "the sandbox is still ending");
}

int runner_start_interpreter(struct runner *r, struct err *err)
{
	struct plan_descriptor descriptors[LANGUAGE_DESCRIPTORS_MAX];
	struct interpreter_path path;
	struct interpreter_spec spec = { .fails_softly = r->c.language->survives_no_memory };
	cleanup_free char *python = session_programs_python(r->c.confinement);
	char **argv;
	char **envp;

	if (leave_dead_sandbox(r, err) < 0 ||
	    confinement_locate(r->c.confinement, r->c.language, &path, err) < 0)
		return -1;
	free(r->path);
	free(r->compiled);
	r->path = path.path;
	r->compiled = driver_cache_name(r->c.language, r->path);
	r->reason = path.reason;
	random_hex(r->nonce, RUNNER_NONCE_LEN);
	r->frames = frame_reader_new(FRAME_UP_PART_MAX);
	r->link = channel_new(r->c.language->codec);
	argv = environment_argv(r->c.language, r->path);
	envp = environment_new(&(struct environment_spec){ .language = r->c.language,
							   .workspace = r->c.workspace,
							   .path = r->path,
							   .python = python,
							   .network = network_of(r->c.confinement),
							   .user_env = r->c.user_env,
							   .memory_max = r->c.memory_max,
							   .runs_again = r->c.runs_again });
	spec.argv = argv;
	spec.envp = envp;
	spec.descriptor_count = r->c.is_zygote ? plan_zygote(descriptors)
					       : plan_descriptors(r->c.language, descriptors);
	spec.zygote = take_zygote(r);
	spec.descriptors = spec.descriptor_count > 0 ? descriptors : NULL;
	spec.cwd = workspace_data_path(r->c.workspace);
	r->interpreter = interpreter_start(r->c.sandbox, &spec, &supervisor_handlers, r);
	environment_free(argv);
	environment_free(envp);
	r->crowd_looks = 0;
	r->crowd = CROWD_NONE;
	r->exited = false;
	r->active = false;
	runner_set_state(r, RUNNER_STARTING);
	loop_timer_start(r->c.loop, &r->ready, loop_now(r->c.loop) + RUNNER_READY_MS,
			 on_ready_timeout);
	return 0;
}
