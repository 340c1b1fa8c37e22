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
 * Cells run in order. A cell's end is told by the driver's `done` frame, after which the pty is
 * read until it is empty; an interpreter's end is told by its minder. Every cell ends exactly once.
 */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/cell.h"
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
	RUNNER_QUEUE_MAX = 64,             /* cells waiting for one interpreter */
	RUNNER_READY_MS = 30000,           /* start to `ready` frame */
	RUNNER_STRAY_MS = 50,              /* between looks at whom an interrupt misses */
	RUNNER_SECOND_INTERRUPT_MS = 1000, /* escalation, from the first interrupt */
	RUNNER_DUMP_MS = 3000,
	RUNNER_TERMINATE_MS = 3100,
	RUNNER_KILL_MS = 4100,
	RUNNER_GIVE_UP_MS = 6100,    /* the kill was of no use: its minder does nothing */
	RUNNER_GRACE_PART = 10,      /* of a cell's deadline: the least of its grace ... */
	RUNNER_GRACE_MS = 600000,    /* ... up to this */
	RUNNER_INPUT_CHECK_MS = 500, /* for what an overdue cell waits; then it is interrupted */
	RUNNER_TYPED_MAX = 8 << 20,  /* bytes of input that nobody has read yet */
	RUNNER_FLOW_MS = 1000,       /* between restarts of a terminal that may be stopped */
	RUNNER_DRAIN_MAX = 64 << 10, /* bytes read after an end: more is a background writer */
	RUNNER_QUERY_MS = 2000,
	RUNNER_FRAME_MS = 30000, /* from the beginning of a frame to its end */
	RUNNER_GONE_MS = 2000,   /* killed, yet the minder is silent */
};

struct runner_handlers {
	/*
	 * The cell has ended; what it changed on disk is not in it yet. Takes the cell. `data` is
	 * the submitter's. The next cell waits for runner_next.
	 */
	void (*ended)(struct runner *runner, struct cell *cell_own, void *data);
	/*
	 * The interpreter is gone; `why` is a sentence of ours without a full stop. `told`: a cell
	 * ends with it and will say so.
	 */
	void (*lost)(struct runner *runner, const char *why, bool reported);
	/* The number of the cell that is being submitted. */
	uint64_t (*next_number)(struct runner *runner);
	/* Right before a cell is handed to the driver. */
	void (*starting)(struct runner *runner);
	/* The running cell began to wait for input: runner_wait. */
	void (*waits)(struct runner *runner);
	/* The wait is over: it goes on, or it ended. */
	void (*resumed)(struct runner *runner);
	/* What runner_answer was to type was not typed. */
	void (*unanswered)(struct runner *runner);
	/* It goes on in a way that somebody should know of: a sentence of ours, after "it". */
	void (*stuck)(struct runner *runner, const char *how);
	/* The running cell has not ended at its deadline: its grace begins. */
	void (*overdue)(struct runner *runner);
	/* Input for the running cell was taken; `hidden`: who reads it does not show it. Or NULL.
	 */
	void (*typed)(struct runner *runner, const char *text, size_t len, bool hidden);
	/* Bytes came from the terminal. */
	void (*wrote)(struct runner *runner, const char *data, size_t len);
	/*
	 * The running cell wants these packages (lines, foreign) of `language` (foreign, a word):
	 * runner_installed follows. May be NULL: nobody installs.
	 */
	void (*install)(struct runner *runner, const char *language, const char *packages);
	/*
	 * The interpreter was killed by none of us: why, as runner_end takes it, for the runner to
	 * free; NULL when nobody knows. May be NULL.
	 */
	char *(*killed)(struct runner *runner);
	/*
	 * An interpreter is about to start in a sandbox that is dead. runner_move follows within
	 * the call, or runner_wake when it is to ask again. May be NULL: there is no other.
	 */
	void (*needs_sandbox)(struct runner *runner);
	/* runner_state() is another; the runner must not be freed here. NULL: nobody asks. */
	void (*moved)(struct runner *runner);
};

enum wait_kind { WAIT_NONE, WAIT_SURE, WAIT_GUESSED };
enum waiter_kind { WAITER_INTERPRETER, WAITER_DEBUGGER, WAITER_PROGRAM };

/* Somebody in the running cell waits for input on the terminal. */
struct runner_wait {
	enum wait_kind kind;
	enum waiter_kind who;
	bool secret;      /* it reads without echo: a password */
	uint64_t number;  /* of this wait in its cell, from 1 */
	char *prompt;     /* the line that it waits at, "" for none; foreign, clean */
	char program[16]; /* foreign */
	int thread;
	uint64_t clock_left_ms;
};

enum runner_typing {
	TYPE_LINE, /* text; Enter at its end, when there is none */
	TYPE_RAW,  /* bytes as they are */
	TYPE_KEY,  /* the bytes of one key, all at once; 03 and 1c interrupt where they do */
};

/* Ways to end a cell, each stronger than the one before. */
enum runner_stop {
	RUNNER_STOP_NONE,
	RUNNER_STOP_INTERRUPT, /* SIGINT, twice; then a stack dump, and the cell may go on */
	RUNNER_STOP_DEADLINE,  /* the same; after its grace SIGTERM to the tree, and SIGKILL */
	RUNNER_STOP_TERMINATE, /* SIGTERM at once, then SIGKILL */
	RUNNER_STOP_KILL,
};

struct runner_context {
	struct loop *loop;
	struct sandbox *sandbox;
	const struct workspace *workspace;
	const struct language *language;
	const struct confinement *confinement; /* knows where interpreters are */
	const struct home *home;               /* keeps compiled drivers; NULL: nothing does */
	const struct runner_handlers *handlers;
	void *owner;
	const struct user_env *user_env; /* to the interpreter's environment; NULL: nothing */
	const struct redact *redact;     /* of secrets in what it says; or NULL */
	struct holder *holder;           /* of the server's memory; or NULL */
	const char *rules;               /* for its cells, as policy/rules.h; or NULL */
	bool is_zygote;                  /* others are to be forked from its interpreter */
	/* From which its first interpreter is forked, unless that is NULL at the time; or NULL. */
	struct interpreter *const *zygote;
	uint64_t stop_grace_ms; /* as PTYCELL_STOP_GRACE */
	uint64_t memory_max;    /* of one process; 0: as much as there is */
	uint64_t processes_max; /* and threads; 0: as many */
	uint64_t spool_max;
	uint64_t output_chars;
};

/* Everything in `context` is borrowed until free. Starts nothing. */
struct runner *runner_new(const struct runner_context *context);
/*
 * The whole session ends because of `why` (a sentence of ours without a full stop): the running
 * cell dies and is told. Only runner_free may follow.
 */
void runner_end(struct runner *runner, const char *why);
/* Kills the interpreter; runs still queued or running end nowhere: cancel them first. */
void runner_free(struct runner *runner);

void *runner_owner(const struct runner *runner);
const struct language *runner_language(const struct runner *runner);
enum runner_state runner_state(const struct runner *runner);
const char *runner_state_name(enum runner_state state);
/* Version and path as the driver told, NULL before. */
const char *runner_version(const struct runner *runner);
const char *runner_path(const struct runner *runner);
/*
 * Whether its driver is given what an earlier interpreter compiled, and may hand back what later
 * ones are given (compiled.h).
 */
bool runner_keeps_compiled(const struct runner *runner);
/* How the path was chosen, NULL before. */
const char *runner_reason(const struct runner *runner);
/* Its driver closed its channel, as one that ends does: no cell is given to it any more. */
bool runner_channel_closed(const struct runner *runner);
bool runner_busy(const struct runner *runner);
size_t runner_queued(const struct runner *runner);

/*
 * Queues a cell; `code` is copied. `data` (not NULL) comes back with `ended`. ERR_BUSY when the
 * queue is full. The interpreter is started when it is not there. The run is the runner's; the
 * pointer is valid until `ended` tells of it or runner_withdraw.
 */
struct queued_cell *runner_submit(struct runner *runner, const char *code, size_t len,
				  uint64_t timeout_ms, void *data, struct err *err) MUST_CHECK;
/* Of the run's cell. */
uint64_t runner_number(const struct queued_cell *queued);
/*
 * Drops a queued run: nothing is told of it. Not for the one that runs. `cell` gets its code; NULL
 * when nobody wants that.
 */
void runner_withdraw(struct queued_cell *queued, struct cell *cell);
/*
 * Ends the running cell early; its end is told as any other. Without one the two strongest end
 * the interpreter.
 */
void runner_stop(struct runner *runner, enum runner_stop stop);
/* Its interpreter's, as sandbox_relieve takes it; 0 without one. */
int runner_interpreter_number(const struct runner *runner);
/* Kills the interpreter and with it the cell that runs: `why` as runner_end takes it. */
void runner_kill(struct runner *runner, const char *why);
/* Should the interpreter be killed now, that is why. NULL: it is not expected any more. */
void runner_expect_kill(struct runner *runner, const char *why);
/*
 * Whether its session has as many processes and threads as it may: one that is starting, and gets
 * none, is not waited for.
 */
void runner_note_crowd(struct runner *runner, bool crowded);
/* Makes an interpreter that runs a cell print where it is; false when it cannot. */
bool runner_dump_stack(struct runner *runner);
/*
 * Where the running cell is, as far as that is known, for "it is ...": the program that the
 * terminal's foreground is, or what the interpreter said at its last stop. NULL when nobody knows.
 */
char *runner_where(const struct runner *runner);
/* How long the running cell may still take to end, in its grace; 0: it is in none. */
uint64_t runner_grace_left_ms(const struct runner *runner);
/* Was the running cell interrupted? It has not ended yet. */
bool runner_is_interrupted(const struct runner *runner);
/* The `data` of the run whose cell runs now; NULL when none does. */
void *runner_current(const struct runner *runner);
/* For how long it has run; 0 when none does. */
uint64_t runner_elapsed_us(const struct runner *runner);
/*
 * The running cell with the output that no look has shown yet in `text`, and the state "running",
 * "waiting_for_input" or, in its grace, "timed_out"; NULL when none runs. Borrowed until the next
 * call about this runner.
 */
struct cell *runner_look(struct runner *runner);
/* Appends the raw output, of the cell or between cells, that nobody was shown. */
void runner_read_held(struct runner *runner, struct buf *out);
/* Who waits for input; NULL when nobody does. Borrowed until the next turn of the loop. */
const struct runner_wait *runner_wait(const struct runner *runner);
/*
 * Types into the running cell's terminal, as fast as it is read. ERR_NOT_FOUND when no cell runs,
 * ERR_LIMIT when too much is unread. What is typed is kept nowhere; it shows in the cell's text
 * where a terminal would show it and somebody waits for it, who did not turn echo off.
 */
int runner_type(struct runner *runner, enum runner_typing kind, const char *text, size_t len,
		struct err *err) MUST_CHECK;
/*
 * Types a line to the wait of this number, and only if that still lasts when it is looked at once
 * more and reads no secret; else `unanswered` tells. False when it is over already.
 */
bool runner_answer(struct runner *runner, uint64_t wait_number, const char *line, size_t len);
/* The last line with something on it that the running cell wrote, clean; "" when there is none. */
char *runner_last_line(const struct runner *runner);
/* Puts what was written between cells into a cell's text. */
void runner_take_background(struct runner *runner, struct cell *cell);
/* After `ended`: the files have been looked at, the next cell may begin. */
void runner_next(struct runner *runner);
/*
 * Asks how many child processes of the interpreter live; `done` comes from the loop, at most once
 * and not after runner_free. False when no interpreter runs.
 */
bool runner_count_children(struct runner *runner, void (*done)(struct runner *runner, int count));
struct query;
/* For the call of `done`. */
struct query_answer {
	const char *lines; /* of `vars` in runtime/frame.h, untrusted; not NUL-terminated */
	size_t len;
	uint64_t total;       /* names there are as the driver says, 0 when these are all */
	const char *compiled; /* of `preload`, likewise; NULL when there is none */
	size_t compiled_len;
	const char *problem; /* why there is nothing, a sentence of ours without a stop; or NULL */
};
typedef void query_done_fn(const struct query_answer *answer, void *data);
/*
 * Asks for at most `limit` names of the interpreter's namespace. `done` comes from the loop, or
 * from runner_free, once; a busy interpreter is not asked, which is the problem told then.
 */
struct query *runner_query_variables(struct runner *runner, unsigned limit, query_done_fn *done,
				     void *data);
/*
 * Asks which of these packages (as `imported` of runtime/frame.h) are imported in another version;
 * likewise. Only for interpreters of Python.
 */
struct query *runner_query_imported(struct runner *runner, const char *packages,
				    query_done_fn *done, void *data);
/*
 * What became of the packages that cell `number` asked for: `text` is for whoever reads its output,
 * `packages` as in runtime/frame.h. Nothing happens when it is over.
 */
void runner_installed(struct runner *runner, uint64_t number, bool ok, const char *text,
		      const char *packages);
/* Of the running cell; 0: none runs. */
uint64_t runner_cell_number(const struct runner *runner);
/* The running cell, with its code; NULL when none runs. */
const struct cell *runner_cell(const struct runner *runner);
/* `done` will not be called. */
void runner_query_cancel(struct query *query);

/* ---- an interpreter ahead of its session: runner_ahead.c ---- */

/* Starts the interpreter of a new runner without a cell; how it goes is told by `moved`. */
int runner_prepare(struct runner *runner, struct err *err) MUST_CHECK;
/*
 * Has a READY interpreter import a module. `done` comes once, from the loop or from runner_free;
 * its answer is empty, and its problem says that the interpreter is gone. One at a time.
 */
void runner_preload(struct runner *runner, const char *module, query_done_fn *done, void *data);
/*
 * Makes a READY one of a context with `is_parent` serve others (sandbox/supervise/zygote.h), by
 * means of this library; `done` as above. The next preload or serve calls it away.
 */
void runner_serve(struct runner *runner, const char *library, query_done_fn *done, void *data);
/*
 * Keeps the driver that came with the answer to the first preload, if one did and it may be
 * (compiled.h): of an interpreter in which nobody's code has run.
 */
void runner_keep_compiled(struct runner *runner, const struct query_answer *answer);
/* What runs; NULL: nothing. */
struct interpreter *runner_interpreter(const struct runner *runner);
/* Stops the interpreter's process where it is, and lets it go on. */
void runner_pause(struct runner *runner, bool pause);
/*
 * A runner without a cell becomes part of a session. What it printed as it started is the
 * session's, what it printed since it was asked ahead is dropped; `context` must name the same
 * sandbox, workspace and language.
 */
void runner_adopt(struct runner *runner, const struct runner_context *context);

/* From now on its interpreters start in this sandbox. Of an IDLE one. */
void runner_move(struct runner *runner, struct sandbox *sandbox);
/* What waits in the queue goes on, if it can. */
void runner_wake(struct runner *runner);
/* New limits for the cells to come. */
void runner_set_limits(struct runner *runner, uint64_t spool_max, uint64_t output_chars);

#endif
