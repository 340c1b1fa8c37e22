/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - polls what a session's processes use, and acts on it. Over the memory limit it
 * measures exactly and interrupts cells (memory_guard.c). It then asks the interpreter at fault for
 * its stack, to name the line, and has init kill processes (victims.c chooses). A kill is reported
 * by an interpreter's end or, for a program, by a notice.
 */
#include "session/watchdog.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "confinement/confinement.h"
#include "proc/sandbox.h"
#include "session/disk_guard.h"
#include "session/killed_programs.h"
#include "session/memory_guard.h"
#include "session/session_internal.h"
#include "text/status_line.h"

enum {
	MEMORY_NEAR = 3,
	MEMORY_NEAR_OF = 4,
	MEMORY_FEW_PART = 16,          /* part of the limit that leaves enough to every process */
	INTERPRETER_BYTES = 128 << 20, /* that one may take as it starts */
	TASKS_NEAR = 2,                /* processes that may come and go while they are counted */
	TASKS_OVER = 64, /* that the kernel may let through in landlock, until it is set anew */
	TASKS_LOOKS = 2, /* measures: the first may be of before an interpreter's end */
	CPU_PART = 16,   /* part of the limit that a session may use beyond it to save its data */
	CPU_LEAST_MS = 5000,
};

/* The state of a kill of processes for their memory. */
enum kill_step {
	KILL_NONE,
	KILL_ASKED_WHERE, /* interpreters print their stack */
	KILL_MEASURES,    /* an exact measure is under way */
	KILL_REQUESTED,
};

struct watchdog {
	struct session *session;
	struct loop_timer timer;
	enum kill_step kill_step;
	struct loop_timer asked;
	struct memory_guard memory;
	unsigned int kills; /* kills since first_kill_ms */
	uint64_t first_kill_ms;
	uint64_t oom_reported; /* of sandbox_oom_kills, reported */
	uint64_t oom_seen;     /* of sandbox_oom_kills, at the last poll */
	uint64_t cpu_before_ms;
	uint64_t cpu_earlier_ms; /* in dead sandboxes, and of processes that were not waited for */
	uint64_t cpu_peak_ms;    /* the largest sum of living processes */
	bool cpu_fell;           /* the last sum was less */
	uint64_t cpu_used_ms;    /* at the last measure, with cpu_earlier_ms */
	bool cpu_stopped;        /* running cells are interrupted for it */
	struct disk_guard *disk;
	char *disk_why; /* of the last kill for the disk; may be NULL */
	uint64_t inspection_due_ms;
	uint64_t memory_bytes[2]; /* at the last measure, and the one before */
	uint64_t looked_ms;       /* the last quick measure was requested */
	int looked_number;        /* of the youngest interpreter at that time */
	unsigned int over_tasks;  /* measures in a row with too many processes and threads */
	bool inspection_wanted;   /* code ran since the last one */
	bool has_children; /* at the last measure there were processes beside the interpreters */
};

static void on_tick(struct loop_timer *timer);

static void schedule(struct watchdog *w, uint64_t wait_ms)
{
	loop_timer_start(w->session->host->loop, &w->timer,
			 loop_now(w->session->host->loop) + wait_ms, on_tick);
}

static unsigned int live_interpreters(const struct session *s)
{
	unsigned int count = 0;

	for (size_t i = 0; i < s->language_count; i++)
		count += runner_state(s->languages[i].runner) != RUNNER_IDLE;
	return count;
}

/* Returns the number of the youngest interpreter that is ready or was; 0: there is none. */
static int youngest_interpreter(const struct session *s)
{
	int youngest = 0;

	for (size_t i = 0; i < s->language_count; i++) {
		struct runner *runner = s->languages[i].runner;
		int number = runner_interpreter_number(runner);

		if (runner_state(runner) != RUNNER_STARTING && number > youngest)
			youngest = number;
	}
	return youngest;
}

/* ---- ending ---- */

/*
 * Ends the interpreters that run a cell. If none does, it ends all interpreters, because their
 * children are at fault. `why` as in runner_end.
 */
static void end_code(struct session *s, const char *why)
{
	bool running = session_runs_cell(s, NULL);

	for (size_t i = 0; i < s->language_count; i++)
		if (!running || runner_state(s->languages[i].runner) == RUNNER_BUSY)
			runner_kill(s->languages[i].runner, why);
}

/* Names files in memory, which are easy to overlook: no process need have them open. */
static void put_memory(struct buf *out, const struct sandbox_usage *usage, uint64_t max)
{
	buf_puts(out, "the session's processes used ");
	status_excess(out, usage->memory_bytes, max);
	buf_puts(out, " (memory_max)");
	if (usage->shared_bytes <= max / MEMORY_GUARD_STEP_PART)
		return;
	buf_puts(out, ", of which ");
	status_size(out, usage->shared_bytes);
	buf_puts(out, " are files in /dev/shm");
}

/* ---- memory and processor time ---- */

/* The cell at fault may have ended meanwhile. */
static void on_asked(struct loop_timer *timer)
{
	struct watchdog *w = container_of(timer, struct watchdog, asked);

	w->kill_step = KILL_MEASURES;
	sandbox_measure(w->session->sandbox, true);
}

/*
 * Asks the interpreter that will be killed for its stack, so that the answer has the line. It asks
 * none if several run: those that are not at fault would have it in their output.
 */
static bool ask_where(struct watchdog *w, const struct sandbox_usage *usage)
{
	struct loop *loop = w->session->host->loop;
	struct runner *busy = memory_guard_at_fault(&w->memory, w->session);

	if (memory_guard_needs_programs(w->session, usage) || busy == NULL ||
	    !runner_dump_stack(busy))
		return false;
	w->kill_step = KILL_ASKED_WHERE;
	loop_timer_start(loop, &w->asked, loop_now(loop) + WATCHDOG_WHERE_MS, on_asked);
	return true;
}

static void kill_for_memory(struct watchdog *w, const struct sandbox_usage *usage)
{
	struct session *s = w->session;
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);
	int numbers[LANGUAGES_MAX];
	size_t count = memory_guard_first(&w->memory, s, usage, numbers);

	put_memory(&why, usage, s->limits.memory_max);
	buf_puts(&why, ", so this interpreter was killed; use less at a time");
	/* Which interpreter it will be is known once it is dead. */
	for (size_t i = 0; i < s->language_count; i++)
		runner_expect_kill(s->languages[i].runner, buf_str(&why));
	w->kill_step = KILL_REQUESTED;
	sandbox_kill_for_memory(
		s->sandbox,
		&(struct sandbox_need){ .memory_max = s->limits.memory_max,
					.still_max = memory_guard_max(s),
					.programs_only = memory_guard_needs_programs(s, usage) },
		numbers, count);
}

/* Returns whether code starts again what is killed: no kill helps then. */
static bool kills_in_vain(struct watchdog *w)
{
	uint64_t now = loop_now(w->session->host->loop);

	if (w->kills == 0 || now - w->first_kill_ms > WATCHDOG_KILLS_MS) {
		w->kills = 0;
		w->first_kill_ms = now;
	}
	return ++w->kills > WATCHDOG_KILLS_MAX;
}

/* Interrupts cells, which may start the programs that were killed. Returns whether one ran. */
static bool stop_starting(struct watchdog *w, const struct sandbox_usage *usage)
{
	if (!memory_guard_interrupt_all(&w->memory, w->session, usage))
		return false;
	w->kills = 0;
	return true;
}

/* Ends what runs, or all if nothing does: it is not known who starts the programs. */
static void kill_session(struct watchdog *w, const struct sandbox_usage *usage)
{
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	put_memory(&why, usage, w->session->limits.memory_max);
	buf_putf(&why,
		 " again after programs had been killed for it %d times; start fewer at a time",
		 WATCHDOG_KILLS_MAX);
	w->kill_step = KILL_NONE;
	w->kills = 0;
	end_code(w->session, buf_str(&why));
}

static void check_memory(struct watchdog *w, const struct sandbox_usage *usage)
{
	if (!usage->exact)
		memory_guard_measured(&w->memory);
	if (w->kill_step == KILL_ASKED_WHERE || w->kill_step == KILL_REQUESTED)
		return;
	if (usage->memory_bytes <= w->session->limits.memory_max) {
		w->kill_step = KILL_NONE;
		memory_guard_fits(&w->memory);
	} else if (!usage->exact)
		sandbox_measure(w->session->sandbox, true);
	else if (memory_guard_waits(&w->memory, w->session, usage))
		w->kill_step = KILL_NONE;
	else if (w->kill_step != KILL_MEASURES && ask_where(w, usage))
		return;
	else if (!kills_in_vain(w) || stop_starting(w, usage))
		kill_for_memory(w, usage);
	else
		kill_session(w, usage);
}

/*
 * The time of a child that is not waited for is lost: the sum falls and stays lower. If a child is
 * waited for between the measures of its parent and its own, the sum falls for one measure only.
 */
static void sum_cpu(struct watchdog *w, uint64_t seen_ms)
{
	bool fell = seen_ms < w->cpu_peak_ms;

	if (fell && w->cpu_fell) {
		w->cpu_earlier_ms += w->cpu_peak_ms - seen_ms;
		fell = false;
	}
	if (!fell)
		w->cpu_peak_ms = seen_ms;
	w->cpu_fell = fell;
}

/* Returns whether cells may still save their data, and interrupts them for that. */
static bool may_save(struct watchdog *w, uint64_t beyond_ms)
{
	uint64_t part_ms = w->session->limits.cpu_max * 1000 / CPU_PART;

	if (beyond_ms > (part_ms > CPU_LEAST_MS ? part_ms : CPU_LEAST_MS))
		return false;
	if (!session_runs_cell(w->session, NULL))
		return !w->has_children;
	if (!w->cpu_stopped)
		(void)session_interrupt_all(w->session);
	w->cpu_stopped = true;
	return true;
}

static void check_cpu(struct watchdog *w, const struct sandbox_usage *usage)
{
	uint64_t limit = w->session->limits.cpu_max;
	cleanup_free char *why = NULL;
	uint64_t used_ms;

	sum_cpu(w, usage->cpu_ms);
	used_ms = w->cpu_earlier_ms + w->cpu_peak_ms - w->cpu_before_ms;
	w->cpu_used_ms = used_ms;
	if (used_ms <= limit * 1000 || may_save(w, used_ms - limit * 1000))
		return;
	why = xasprintf("the session has used %" PRIu64 " s of processor time, more than the "
			"limit of %" PRIu64 " s (cpu_max); a new session starts at 0",
			(used_ms + 999) / 1000, limit);
	end_code(w->session, why);
}

/* Returns whether the kernel counts all processes of the user for the session. */
static bool counts_user(const struct watchdog *w)
{
	return confinement_facts(w->session->host->confinement).tier == POLICY_LANDLOCK;
}

/* Returns whether an interpreter ends, with its processes: they are not those of the others. */
static bool is_ending(const struct session *s)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_state(s->languages[i].runner) == RUNNER_ENDING)
			return true;
	return false;
}

static char *explain_processes(const struct session *s, const struct sandbox_usage *usage)
{
	return xasprintf("the session had %u processes and threads, more than the limit of %" PRIu64
			 " (processes_max); use fewer workers",
			 usage->threads, s->limits.processes_max);
}

/*
 * In tier landlock code can raise the kernel's limit, because those of the user's other processes
 * change and the limit with them.
 */
static void check_processes(struct watchdog *w, const struct sandbox_usage *usage)
{
	const struct session *s = w->session;
	cleanup_free char *why = NULL;

	if (!counts_user(w) || usage->exact)
		return;
	if (usage->threads <= s->limits.processes_max + TASKS_OVER || is_ending(s))
		w->over_tasks = 0;
	else if (++w->over_tasks >= TASKS_LOOKS)
		why = explain_processes(s, usage);
	if (why == NULL)
		return;
	w->over_tasks = 0;
	end_code(w->session, why);
}

static enum crowd find_crowd(const struct session *s, const struct sandbox_usage *usage)
{
	if (confinement_facts(s->host->confinement).tier == POLICY_UNCONFINED)
		return CROWD_NONE;
	if (usage->tasks + TASKS_NEAR >= s->limits.processes_max)
		return CROWD_SESSION;
	return usage->user_full ? CROWD_USER : CROWD_NONE;
}

/*
 * Notes sessions without room for a process: an interpreter that gets none waits, or fails for
 * another reason.
 */
static void check_starts(struct watchdog *w, const struct sandbox_usage *usage)
{
	struct session *s = w->session;
	enum crowd crowd = find_crowd(s, usage);

	for (size_t i = 0; i < s->language_count; i++)
		runner_note_crowd(s->languages[i].runner, crowd);
}

static void check_in_flight(struct watchdog *w, const struct sandbox_usage *usage)
{
	cleanup_free char *why = NULL;

	if (usage->in_flight <= WATCHDOG_IN_FLIGHT_MAX)
		return;
	why = xasprintf("the session had %u descriptors on their way through sockets, more than "
			"the limit of %u; receive them, or send fewer at a time",
			usage->in_flight, WATCHDOG_IN_FLIGHT_MAX);
	end_code(w->session, why);
}

static void on_measured(void *data, const struct sandbox_usage *usage)
{
	struct watchdog *w = data;

	disk_guard_set_unlinked(w->disk, usage->unlinked_bytes);
	if (!usage->exact)
		disk_guard_set_written(w->disk, usage->written_bytes);
	w->has_children = usage->processes > live_interpreters(w->session);
	disk_guard_set_children(w->disk, w->has_children);
	if (w->has_children) /* it may have been started as the cell ended */
		watchdog_wake(w);
	w->memory_bytes[1] = w->memory_bytes[0];
	w->memory_bytes[0] = usage->memory_bytes;
	check_memory(w, usage);
	check_cpu(w, usage);
	check_processes(w, usage);
	check_starts(w, usage);
	check_in_flight(w, usage);
}

uint64_t watchdog_memory(const struct watchdog *w)
{
	return w != NULL ? w->memory_bytes[0] : 0;
}

void watchdog_end_writers(struct watchdog *w, const char *why)
{
	struct session *s = w->session;
	int numbers[LANGUAGES_MAX];
	size_t count = 0;

	if (w->kill_step == KILL_REQUESTED)
		return;
	free(w->disk_why);
	w->disk_why = xstrdup(why);
	for (size_t i = 0; i < s->language_count; i++) {
		struct runner *runner = s->languages[i].runner;

		runner_expect_kill(runner, why);
		if (runner_state(runner) == RUNNER_BUSY && runner_interpreter_number(runner) != 0)
			numbers[count++] = runner_interpreter_number(runner);
	}
	w->kill_step = KILL_REQUESTED;
	sandbox_kill_for_disk(s->sandbox, numbers, count);
}

/* Reports killed programs. The end of an interpreter is reported by its runner. */
static void on_victims_killed(void *data, const struct sandbox_killed *killed)
{
	struct watchdog *w = data;
	struct session *s = w->session;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	w->kill_step = KILL_NONE;
	/* The memory in use is no process's: none can be killed in vain for it. */
	if (!killed->for_disk && killed->interpreters + killed->programs == 0 && w->kills > 0)
		w->kills--;
	if (killed->interpreters == 0)
		for (size_t i = 0; i < s->language_count; i++)
			runner_expect_kill(s->languages[i].runner, NULL);
	if (!killed_programs_of_code(killed))
		return;
	killed_programs_describe(&text, killed, s->limits.memory_max, w->disk_why);
	session_add_notice(s, buf_str(&text));
}

/* ---- the kernel's own limit of memory ---- */

char *watchdog_explain_kill(struct watchdog *w)
{
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);
	uint64_t limit = 0;

	if (w == NULL || sandbox_oom_kills(w->session->sandbox, &limit) <= w->oom_reported)
		return NULL;
	w->oom_reported++;
	buf_puts(&why, "the session's memory came to the limit that the kernel holds it to, ");
	status_size(&why, limit);
	buf_puts(&why,
		 " (memory_max, and room for /tmp), and this interpreter had the most, so the "
		 "kernel killed it, without asking it for the line; use less at a time");
	return buf_steal(&why);
}

/* A kill by the kernel that is no interpreter's by the next poll was that of a program. */
static void report_kernel_kills(struct watchdog *w)
{
	struct session *s = w->session;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	uint64_t limit = 0;
	uint64_t kills = sandbox_oom_kills(s->sandbox, &limit);
	bool is_new = kills > w->oom_seen;

	w->oom_seen = kills;
	if (is_new || kills <= w->oom_reported)
		return;
	w->oom_reported = kills;
	buf_puts(&text, "A program that code had started was killed by the kernel: the session's "
			"memory came to ");
	status_size(&text, limit);
	buf_puts(&text, " (memory_max, and room for /tmp). Use less at a time.");
	session_add_notice(s, buf_str(&text));
}

/* ---- shared folders ---- */

/* Running code may make a repository long before a cell ends, and a job of a cell after that. */
static void inspect_shares(struct watchdog *w, bool runs)
{
	uint64_t now = loop_now(w->session->host->loop);

	w->inspection_wanted = w->inspection_wanted || runs;
	if (!w->inspection_wanted || now < w->inspection_due_ms)
		return;
	w->inspection_wanted = false;
	w->inspection_due_ms = now + WATCHDOG_LOOK_MS;
	session_inspection_request(w->session);
}

/* ---- life ---- */

static void look(struct watchdog *w)
{
	w->looked_ms = loop_now(w->session->host->loop);
	w->looked_number = youngest_interpreter(w->session);
	sandbox_measure(w->session->sandbox, false);
}

static void on_tick(struct loop_timer *timer)
{
	struct watchdog *w = container_of(timer, struct watchdog, timer);
	bool running = session_runs_code(w->session);
	bool runs = running || w->has_children;

	look(w);
	report_kernel_kills(w);
	disk_guard_tick(w->disk, running, w->has_children);
	inspect_shares(w, runs);
	session_scan_in_background(w->session);
	schedule(w, runs ? WATCHDOG_BUSY_MS : WATCHDOG_IDLE_MS);
}

void watchdog_explain_cell(struct watchdog *w, const struct runner *runner, struct cell *cell)
{
	uint64_t near = w->session->limits.memory_max / MEMORY_NEAR_OF * MEMORY_NEAR;

	disk_guard_explain_cell(w->disk, runner, cell);
	if (cell_goes_on(cell))
		return;
	w->inspection_wanted = true; /* for programs that the cell left: its end has its own one */
	w->inspection_due_ms = loop_now(w->session->host->loop) + WATCHDOG_LOOK_MS;
	if (cell->file_max == 0) /* programs that filled the folder may have ended with it */
		look(w);
	if (w->cpu_stopped)
		cell->cpu_stopped_ms = w->cpu_used_ms;
	w->cpu_stopped = w->cpu_stopped && session_runs_cell(w->session, runner);
	for (size_t i = 0; i < w->session->language_count; i++)
		if (w->session->languages[i].runner == runner)
			cell->memory_stopped = memory_guard_note_cell_end(&w->memory, i);
	cell->memory_used = w->memory_bytes[0];
	cell->memory_near = w->memory_bytes[0] >= near || w->memory_bytes[1] >= near;
}

void watchdog_take_scan(struct watchdog *w, uint64_t bytes)
{
	disk_guard_take_scan(w->disk, bytes);
}

void watchdog_note_answer(struct watchdog *w, const struct cell *cell)
{
	disk_guard_note_answer(w->disk, cell);
}

/*
 * Returns whether the last measure is too old for a cell that begins. Memory that other code gave
 * back is there for it, and processes that others of the user have made do not count for it. Under
 * a small limit /dev/shm must soon be smaller by what a new interpreter took as it started.
 */
static bool wants_look(const struct watchdog *w, uint64_t age_ms)
{
	uint64_t few = w->session->limits.memory_max / MEMORY_FEW_PART;

	if (few < INTERPRETER_BYTES && youngest_interpreter(w->session) > w->looked_number)
		return true;
	return (w->memory_bytes[0] > few || counts_user(w)) && age_ms >= WATCHDOG_BUSY_MS;
}

void watchdog_wake(struct watchdog *w)
{
	uint64_t now = loop_now(w->session->host->loop);

	if (wants_look(w, now - w->looked_ms))
		look(w);
	if (!loop_timer_active(&w->timer) || w->timer.deadline_ms > now + WATCHDOG_BUSY_MS)
		schedule(w, WATCHDOG_BUSY_MS);
}

static const struct sandbox_watcher watcher = { .measured = on_measured,
						.killed = on_victims_killed };

struct watchdog *watchdog_new(struct session *s, uint64_t cpu_ms)
{
	struct watchdog *w = xcalloc(1, sizeof(*w));

	w->session = s;
	w->cpu_before_ms = cpu_ms;
	w->disk = disk_guard_new(s);
	w->inspection_due_ms = loop_now(s->host->loop) + WATCHDOG_LOOK_MS / 5;
	sandbox_watch(s->sandbox, &watcher, w);
	return w;
}

void watchdog_move(struct watchdog *w)
{
	loop_timer_stop(&w->asked);
	w->kill_step = KILL_NONE;
	w->memory = (struct memory_guard){ 0 };
	w->oom_reported = w->oom_seen = 0;
	w->cpu_earlier_ms = w->cpu_used_ms;
	w->cpu_before_ms = 0;
	w->cpu_peak_ms = 0;
	w->cpu_fell = false;
	w->cpu_stopped = false;
	disk_guard_move(w->disk);
	w->has_children = false;
	memset(w->memory_bytes, 0, sizeof(w->memory_bytes));
	w->looked_number = 0;
	sandbox_watch(w->session->sandbox, &watcher, w);
}

void watchdog_free(struct watchdog *w)
{
	if (w == NULL)
		return;
	loop_timer_stop(&w->timer);
	loop_timer_stop(&w->asked);
	disk_guard_free(w->disk);
	free(w->disk_why);
	free(w);
}
