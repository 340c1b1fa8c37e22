/* SPDX-License-Identifier: MIT */
/*
 * runner.h - one language of a session: its interpreter, its queue, the cell that runs.
 *
 *   IDLE --> STARTING --> READY <--> BUSY
 *              |            |          |
 *              '----------> ENDING <---'      killed, crashed or quit: waits until the process
 *                             |               has exited and its output has ended
 *                             '--> IDLE       generation + 1
 *
 * Cells run in order. The driver's `done` frame reports a cell's end; the pty is then read until it
 * is empty. The supervisor reports an interpreter's end. Every cell ends exactly once.
 */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/cell.h"
#include "runner/end_text.h"
#include "runtime/language.h"

struct confinement;
struct holder;
struct user_env;
struct redact;
struct runner;
struct queued_cell;
struct sandbox;
struct workspace;
struct loop;

enum runner_state { RUNNER_IDLE, RUNNER_STARTING, RUNNER_READY, RUNNER_BUSY, RUNNER_ENDING };

enum {
	RUNNER_QUEUE_MAX = 64,             /* cells queued for one interpreter */
	RUNNER_READY_MS = 30000,           /* from the start to the `ready` frame */
	RUNNER_STRAY_MS = 50,              /* between polls for programs that took an interrupt */
	RUNNER_SECOND_INTERRUPT_MS = 1000, /* of the escalation, from the first interrupt */
	RUNNER_DUMP_MS = 3000,
	RUNNER_TERMINATE_MS = 3100,
	RUNNER_KILL_MS = 4100,
	RUNNER_GIVE_UP_MS = 6100,    /* the kill did not help: the supervisor does nothing */
	RUNNER_GRACE_PART = 10,      /* of a deadline: the grace period is at least this part, */
	RUNNER_GRACE_MS = 600000,    /* which counts up to this */
	RUNNER_INPUT_CHECK_MS = 500, /* to find out whether an overdue cell waits for input; then it
					is interrupted */
	RUNNER_TYPED_MAX = 8 << 20,  /* bytes of unread input */
	RUNNER_FLOW_MS = 1000,       /* between restarts of a terminal that may be stopped */
	RUNNER_DRAIN_MAX = 64 << 10, /* bytes read after an end; a background writer has more */
	RUNNER_QUERY_MS = 2000,
	RUNNER_SAVE_MS = 15000,  /* the driver's own limit is 10 s */
	RUNNER_CLOSE_MS = 15000, /* to close what writes files, beside RUNNER_QUERY_MS */
	RUNNER_FRAME_MS = 30000, /* from the beginning of a frame to its end */
	RUNNER_GONE_MS = 2000,   /* since the kill, without a report from the supervisor */
};

struct runner_handlers {
	/*
	 * A cell has ended; the files that it changed are not in it yet. Takes ownership of the
	 * cell. `data` is the submitter's. The next cell waits for runner_next.
	 */
	void (*ended)(struct runner *runner, struct cell *cell_own, void *data);
	/*
	 * The interpreter is gone. `why` is a sentence without a full stop. `reported`: a cell ends
	 * with it and will report that.
	 */
	void (*lost)(struct runner *runner, const char *why, bool reported);
	/* Returns the number for a cell that is being submitted. */
	uint64_t (*next_number)(struct runner *runner);
	/* Returns why the next cell must not start, for the caller to free, or NULL. May be NULL.
	 */
	char *(*refusal)(struct runner *runner);
	/* A cell is about to be sent to the driver. */
	void (*starting)(struct runner *runner);
	/* The running cell has begun to wait for input: see runner_wait. */
	void (*waits)(struct runner *runner);
	/* The wait is over: the cell continues, or has ended. */
	void (*resumed)(struct runner *runner);
	/* The line of runner_answer was not typed. */
	void (*unanswered)(struct runner *runner);
	/*
	 * The cell runs on in a way that callers should know; `how` is a sentence that continues
	 * after "it".
	 */
	void (*stuck)(struct runner *runner, const char *how);
	/* The running cell has not ended at its deadline: its grace period begins. */
	void (*overdue)(struct runner *runner);
	/*
	 * Input for the running cell was accepted; `hidden`: the reader does not echo it. May be
	 * NULL.
	 */
	void (*typed)(struct runner *runner, const char *text, size_t len, bool hidden);
	/*
	 * No cell will have this output, which came after the last one. May be NULL.
	 */
	void (*late)(struct runner *runner, const char *text, size_t len);
	/* The terminal brought bytes. */
	void (*wrote)(struct runner *runner, const char *data, size_t len);
	/*
	 * The running cell requests packages of `language`: lines and a word, both untrusted.
	 * runner_installed must follow. May be NULL: packages cannot be installed.
	 */
	void (*install)(struct runner *runner, const char *language, const char *packages);
	/*
	 * The interpreter was killed by another party. Returns why, as runner_end takes it; the
	 * runner frees it. Returns NULL when that is unknown. May be NULL.
	 */
	char *(*killed)(struct runner *runner);
	/*
	 * An interpreter is about to start in a dead sandbox. Calls runner_move at once, or
	 * runner_wake when the runner should ask again. May be NULL: there is no other sandbox.
	 */
	void (*needs_sandbox)(struct runner *runner);
	/* runner_state() has changed; the runner must not be freed here. May be NULL. */
	void (*moved)(struct runner *runner);
};

enum wait_kind { WAIT_NONE, WAIT_SURE, WAIT_GUESSED };
enum waiter_kind { WAITER_INTERPRETER, WAITER_DEBUGGER, WAITER_PROGRAM };

/* A wait of the running cell for input on its terminal. */
struct runner_wait {
	enum wait_kind kind;
	enum waiter_kind who;
	bool secret;      /* the reader turned echo off, as for a password */
	uint64_t number;  /* of this wait in its cell, from 1 */
	char *prompt;     /* the line at which it waits, "" for none; untrusted, sanitized */
	char program[16]; /* untrusted */
	int thread;
	uint64_t clock_left_ms;
};

enum runner_typing {
	TYPE_LINE, /* text, with Enter added at its end if that is missing */
	TYPE_RAW,  /* bytes as they are */
	TYPE_KEY,  /* the bytes of one key, all at once; 03 and 1c interrupt if the terminal is set
		      so; arrows become those that the program asked for (cursor_keys.h) */
};

/* Ways to end a cell, each stronger than the one before. */
enum runner_stop {
	RUNNER_STOP_NONE,
	RUNNER_STOP_INTERRUPT, /* SIGINT twice, then a stack dump; the cell may run on */
	RUNNER_STOP_DEADLINE,  /* the same; after the grace period SIGTERM to the tree, then SIGKILL
				*/
	RUNNER_STOP_TERMINATE, /* SIGTERM at once, then SIGKILL */
	RUNNER_STOP_KILL,
};

struct runner_context {
	struct loop *loop;
	struct sandbox *sandbox;
	const struct workspace *workspace;
	const struct language *language;
	const struct confinement *confinement; /* locates interpreters */
	const struct home *home; /* stores compiled drivers; NULL: they are not stored */
	const struct runner_handlers *handlers;
	void *owner;
	const struct user_env *user_env; /* added to the interpreter's environment; or NULL */
	const struct redact *redact;     /* removes secrets from its output; or NULL */
	struct holder *holder;           /* accounts for the server's memory; or NULL */
	const char *rules;               /* code rules for its cells, as policy/rules.h; or NULL */
	bool is_zygote;                  /* sessions are forked from its interpreter */
	bool runs_again; /* its cells are recorded ones that run again, up to runner_end_again */
	/*
	 * The zygote from which its first interpreter is forked, unless that is NULL at the time;
	 * or NULL.
	 */
	struct interpreter *const *zygote;
	uint64_t stop_grace_ms; /* as PTYCELL_STOP_GRACE */
	uint64_t memory_max;    /* of one process; 0: unlimited */
	uint64_t processes_max; /* and threads; 0: unlimited */
	uint64_t spool_max;
	uint64_t output_chars;
};

/* Makes a runner without an interpreter. Everything in `context` is borrowed until free. */
struct runner *runner_new(const struct runner_context *context);
/*
 * Ends the running cell as died, because its session ends. `why` is a sentence without a full stop.
 * Only runner_free may follow.
 */
void runner_end(struct runner *runner, const char *why);
/*
 * Kills the interpreter. Cells still queued or running end without a report: they must be withdrawn
 * before.
 */
void runner_free(struct runner *runner);

/*
 * Has an interpreter without a cell end by itself, as at a terminal; `lost` reports its end. Queued
 * cells end without a report. Returns false, and does nothing, if it cannot: it must be killed.
 * Only the three functions below and runner_free may follow.
 */
bool runner_quit(struct runner *runner);
/* Returns whether it has not ended by itself yet. */
bool runner_quits(const struct runner *runner);
/* Returns whether the last interpreter that ended did so by exit, not by a signal. */
bool runner_exited(const struct runner *runner);
/* Sends it SIGINT, unless it has ended. */
void runner_interrupt_quit(struct runner *runner);

/* Has other handlers called from now on, for the same owner. They are borrowed. */
void runner_set_handlers(struct runner *runner, const struct runner_handlers *handlers);
void *runner_owner(const struct runner *runner);
const struct language *runner_language(const struct runner *runner);
enum runner_state runner_state(const struct runner *runner);
const char *runner_state_name(enum runner_state state);
/* Return version and path as the driver reported them, borrowed; NULL before. */
const char *runner_version(const struct runner *runner);
const char *runner_path(const struct runner *runner);
/*
 * Returns whether its driver gets the code that an earlier interpreter compiled, and may return
 * code for later ones (driver_cache.h).
 */
bool runner_keeps_compiled(const struct runner *runner);
/* Returns how the path was chosen; NULL before. */
const char *runner_reason(const struct runner *runner);
/*
 * Returns whether its driver has closed the control channel, as one that ends does. It gets no more
 * cells.
 */
bool runner_channel_closed(const struct runner *runner);
bool runner_busy(const struct runner *runner);
size_t runner_queued(const struct runner *runner);
/* Returns whether its cell runs on after its deadline, in its grace period. */
bool runner_in_grace(const struct runner *runner);

/*
 * Queues a cell and starts the interpreter if there is none. `code` is copied. `data` (not NULL)
 * comes back with `ended`. The result is borrowed until `ended` or runner_withdraw. Returns NULL
 * and sets *err: ERR_BUSY when the queue is full.
 */
struct queued_cell *runner_submit(struct runner *runner, const char *code, size_t len,
				  uint64_t timeout_ms, void *data, struct err *err) MUST_CHECK;
/* Returns the number that the cell will have: `next_number` gave it when the cell was submitted. */
uint64_t runner_number(const struct queued_cell *queued);
/*
 * Returns whether the cell's code is sent in the loop's next turn, if the interpreter still lives
 * then.
 */
bool runner_begins(const struct queued_cell *queued);
/*
 * Drops a cell that is queued and does not run, without a report. Its code moves to `cell`, which
 * may be NULL.
 */
void runner_withdraw(struct queued_cell *queued, struct cell *cell);
/*
 * Ends the running cell early; its end is reported as any other. If no cell runs, the two strongest
 * ways end the interpreter.
 */
void runner_stop(struct runner *runner, enum runner_stop stop);
/* Returns the number of its interpreter, as sandbox_kill_for_memory takes it; 0 without one. */
int runner_interpreter_number(const struct runner *runner);
/* Returns whether threads, timers or connections went on after the interpreter's last cell. */
bool runner_active(const struct runner *runner);
/* Kills the interpreter, and with it the running cell; `why` as in runner_end. */
void runner_kill(struct runner *runner, const char *why);
/* Sets the reason to report if the interpreter is killed now. NULL withdraws it. */
void runner_expect_kill(struct runner *runner, const char *why);
/*
 * Notes which limit of processes and threads is reached. An interpreter that cannot start for that
 * reason fails before RUNNER_READY_MS, and the error names the limit.
 */
void runner_note_crowd(struct runner *runner, enum crowd crowd);
/* Has an interpreter that runs a cell print where it is. Returns false when it cannot. */
bool runner_dump_stack(struct runner *runner);
/*
 * Returns where the running cell is, to continue "it is ...": the program in the terminal's
 * foreground, or the place that the last stack dump showed. The caller frees the result. Returns
 * NULL when that is unknown.
 */
char *runner_where(const struct runner *runner);
/* Returns how long the grace period of the running cell still lasts; 0 if it is in none. */
uint64_t runner_grace_left_ms(const struct runner *runner);
/* Returns whether the running cell was interrupted and has not ended yet. */
bool runner_is_interrupted(const struct runner *runner);
/* Returns the `data` of the running cell; NULL when none runs. */
void *runner_current(const struct runner *runner);
/* Returns for how long the cell has run; 0 when none runs. */
uint64_t runner_elapsed_us(const struct runner *runner);
/*
 * Returns the running cell; `text` has the output that no answer has shown yet. Its state is
 * running, waiting_for_input or, in its grace period, timed_out. Returns NULL when none runs.
 * Borrowed until the next call about this runner.
 */
struct cell *runner_observe(struct runner *runner);
/*
 * Appends the raw output, of the cell or since the last one, that no answer has shown. `withheld`
 * as in transcript_read.
 */
void runner_read_held(struct runner *runner, struct buf *out, struct buf *withheld);
/* Returns the wait for input; NULL when there is none. Borrowed until the next turn of the loop. */
const struct runner_wait *runner_wait(const struct runner *runner);
/*
 * Types into the running cell's terminal, as fast as it is read. Input is not stored. It shows in
 * the cell's text where a terminal would echo it. Returns -1 and sets *err: ERR_NOT_FOUND when no
 * cell runs, ERR_LIMIT when too much is unread.
 */
int runner_type(struct runner *runner, enum runner_typing kind, const char *text, size_t len,
		struct err *err) MUST_CHECK;
/*
 * Types a line to the wait of this number, if one more look finds that it still lasts and reads no
 * secret; else calls `unanswered`. Returns false when the wait is over already.
 */
bool runner_answer(struct runner *runner, uint64_t wait_number, const char *line, size_t len);
/*
 * Returns the last line of the running cell that is not empty, sanitized; "" when there is none.
 * The caller frees the result.
 */
char *runner_last_line(const struct runner *runner);
/*
 * Reports the output since the last cell by the callback `late`, because no cell will have it: the
 * interpreter is forgotten, or an answer without a cell shows it.
 */
void runner_report_late(struct runner *runner);
/* Moves the output since the last cell into a cell's text. */
void runner_take_background(struct runner *runner, struct cell *cell);
/* Lets the next cell begin, after `ended` and the scan of the files. */
void runner_next(struct runner *runner);
/*
 * Counts the live child processes of the interpreter. `done` comes from the loop, at most once and
 * not after runner_free. Returns false when no interpreter runs.
 */
bool runner_count_children(struct runner *runner, void (*done)(struct runner *runner, int count));
struct runner_query;
/* Borrowed for the call of `done`. */
struct query_answer {
	const char *lines; /* as `vars` in runtime/frame.h, untrusted; not NUL-terminated */
	size_t len;
	uint64_t total; /* number of names as the driver reports it; 0: these are all */
	const char
		*compiled; /* as `preload` in runtime/frame.h, untrusted; NULL when there is none */
	size_t compiled_len;
	const char *problem; /* why there is no answer, a sentence without a full stop; or NULL */
};
typedef void query_done_fn(const struct query_answer *answer, void *data);
/*
 * Requests at most `limit` names of the interpreter's namespace. `done` comes from the loop, or
 * from runner_free, once; the result is valid until then, or until runner_query_cancel. A busy
 * interpreter is not asked: `problem` then says so.
 */
struct runner_query *runner_query_variables(struct runner *runner, unsigned limit,
					    query_done_fn *done, void *data);
/*
 * Asks which of these packages (as `imported` in runtime/frame.h) are imported in another version.
 * `done` comes as above. Only for interpreters of Python.
 */
struct runner_query *runner_query_imported(struct runner *runner, const char *packages,
					   query_done_fn *done, void *data);
/*
 * Has the driver close objects that write files by their names (`close-named` in runtime/frame.h).
 * `done` comes as that of runner_query_variables.
 */
struct runner_query *runner_query_close_named(struct runner *runner, query_done_fn *done,
					      void *data);
/* The driver's report of a save. Borrowed for the call of `done`. */
struct runner_saved {
	uint64_t names;      /* that are saved; untrusted */
	uint64_t ms;         /* that bringing them back may take; untrusted */
	const char *problem; /* why they are not, untrusted text without a full stop; or NULL */
	bool changing;       /* background tasks may still change them, without a further cell */
};
/* A save of the session's variables (`save` in runtime/frame.h). */
struct runner_saving {
	uint64_t cell;      /* that ran last */
	uint64_t bytes_max; /* of the file */
	/* Not 0: in the interpreter itself, in so much time; it runs no cell meanwhile. 0: in a
	 * copy. */
	uint64_t here_ms;
	/* Takes a piece of the file, untrusted. Returns false if no more is wanted. */
	bool (*piece)(void *data, const char *bytes, size_t len);
	/* Called once, from the loop or from runner_free, and not by runner_save. */
	void (*done)(void *data, const struct runner_saved *saved);
	void *data;
};
/*
 * Begins to save. Returns -1 and sets *err: ERR_BUSY if a cell, a query or a save is under way, or
 * the interpreter does not run or has none of this.
 */
int runner_save(struct runner *runner, const struct runner_saving *saving,
		struct err *err) MUST_CHECK;
bool runner_saves(const struct runner *runner);
/* Interrupts a save in the interpreter itself that has time left (`here_ms`): it fails soon. */
void runner_save_interrupt(struct runner *runner);
/*
 * Queues the return of saved variables from the file `path` in the session: it runs, waits and ends
 * as a cell. Arguments, result and errors are those of runner_submit.
 */
struct queued_cell *runner_submit_values(struct runner *runner, const char *path,
					 uint64_t timeout_ms, void *data,
					 struct err *err) MUST_CHECK;
/*
 * Reports the outcome of the packages that cell `number` requested. `text` goes to the cell's
 * output; `packages` as in runtime/frame.h. Does nothing when the cell is over.
 */
void runner_installed(struct runner *runner, uint64_t number, bool ok, const char *text,
		      const char *packages);
/* Returns the number of the running cell; 0 when none runs. */
uint64_t runner_cell_number(const struct runner *runner);
/* Returns the running cell, with its code; NULL when none runs. */
const struct cell *runner_cell(const struct runner *runner);
/* Cancels a query: `done` will not be called. */
void runner_query_cancel(struct runner_query *query);

/* ---- an interpreter before its session: runner_prestart.c ---- */

/*
 * Starts the interpreter of a new runner without a cell; `moved` reports how it goes. Returns -1
 * and sets *err.
 */
int runner_prepare(struct runner *runner, struct err *err) MUST_CHECK;
/*
 * Has a READY interpreter import a module. `done` comes once, from the loop or from runner_free.
 * Its answer is empty; `problem` says if the interpreter is gone. One at a time.
 */
void runner_preload(struct runner *runner, const char *module, query_done_fn *done, void *data);
/*
 * Has a READY interpreter of a context with `is_zygote` serve forks (sandbox/supervise/zygote.h),
 * by this library. `done` comes as above. The next preload or serve calls it away.
 */
void runner_serve(struct runner *runner, const char *library, query_done_fn *done, void *data);
/*
 * Stores the compiled driver of the answer to the first preload, if it has one and may be stored
 * (driver_cache.h). No session code may have run in the interpreter.
 */
void runner_keep_compiled(struct runner *runner, const struct query_answer *answer);
/* Returns the interpreter; NULL when there is none. Borrowed. */
struct interpreter *runner_interpreter(const struct runner *runner);
/* Stops the interpreter's process, or continues it. */
void runner_pause(struct runner *runner, bool pause);
/*
 * Makes a runner without a cell part of a session. The session gets what it printed as it started;
 * later output is dropped. `context` must name the same sandbox, workspace and language.
 */
void runner_adopt(struct runner *runner, const struct runner_context *context);

/* Makes later interpreters start in this sandbox. The runner must be IDLE. */
void runner_move(struct runner *runner, struct sandbox *sandbox);
/* Continues with the queue after this turn's callbacks, if that is possible. */
void runner_wake(struct runner *runner);
/* Sets limits for the cells to come. */
void runner_set_limits(struct runner *runner, uint64_t spool_max, uint64_t output_chars);
/* Notes that later cells, and interpreters that start later, are as any other. */
void runner_end_again(struct runner *runner);

#endif
