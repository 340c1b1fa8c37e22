/* SPDX-License-Identifier: MIT */
/*
 * runner_internal.h - shared by the modules of a runner.
 *
 *   - runner.c: the queue, and the start and end of cells
 *   - runner_stop.c: deadlines, interrupts and what follows them
 *   - runner_quit.c: an interpreter that ends by itself
 *   - runner_where.c: where a cell is that does not end
 *   - runner_wait.c: whether a cell waits for input
 *   - runner_input.c: typing that input
 *   - runner_io.c: the terminal and the control channel
 *   - runner_frames.c: acting on the frames of the control channel
 *   - runner_query.c: questions to the driver, and the one that it may ask
 *   - runner_save.c: the session's variables, as the driver saves them
 *   - runner_lifecycle.c: the interpreter's start and end
 *   - runner_result.c: what an answer shows of a value and a traceback
 *   - runner_prestart.c: an interpreter that waits for its session
 */
#ifndef RUNNER_RUNNER_INTERNAL_H
#define RUNNER_RUNNER_INTERNAL_H

#include "event/loop.h"
#include "proc/interpreter.h"
#include "runner/cursor_keys.h"
#include "runner/holdings.h"
#include "runner/runner.h"
#include "runner/transcript.h"
#include "runtime/channel.h"
#include "runtime/frame.h"

enum {
	RUNNER_NONCE_LEN = 32,
	RUNNER_UNREAD_MAX = 256 << 10, /* bytes that a driver may leave unread before its frames are
					  not read either */
};

/* The path of a cell's interrupt, by the terminal's foreground groups. */
struct runner_stray {
	pid_t own;     /* the interpreter's group */
	pid_t taker;   /* the group that got the last interrupt */
	pid_t seen;    /* the group that the last poll saw */
	unsigned gone; /* programs that came and went since, none of them seen twice */
	bool arrived;  /* the interpreter itself got the interrupt */
};

struct queued_cell {
	struct list node;
	struct runner *runner;
	void *data;
	char *code;
	size_t code_len;
	uint64_t timeout_ms;
	uint64_t number; /* of its cell */
	bool restores;   /* `code` is the path of saved variables */
};

/* The driver's report on its event loop and the terminal. */
enum reading {
	READING_UNKNOWN,
	READING_NO,
	READING_YES,
};

struct runner_watch {
	struct loop_timer timer;
	uint64_t cell;           /* the cell that was asked about last */
	uint64_t output;         /* counts signs that the cell continues */
	uint64_t quiet_since_ms; /* when the last such sign came */
	unsigned int looks;      /* polls since then */
	unsigned int agreed;     /* the latest polls in a row that agreed */
	bool rested;             /* the thread slept between the last two polls */
	struct input_state last;
	uint64_t second_ms; /* start of the second for which `second_looks` counts */
	unsigned int second_looks;
	enum reading reading;
	uint64_t reading_since; /* the cell in which reading began; 0: none */
};

/* The use of the text of the current frame. */
enum intake_as { INTAKE_DISPLAY, INTAKE_OUTPUT, INTAKE_RESULT, INTAKE_DONE };

/* The frame that is being taken in, and how far. */
struct runner_intake {
	struct loop_timer late; /* runs while a frame is incomplete */
	struct loop_defer turn; /* runs while frames wait for the next turn; the channel is not read
				   meanwhile */
	size_t room;            /* bytes that this turn may still take in */
	const struct frame *frame; /* owned by the reader, unused meanwhile; NULL: none */
	enum intake_as as;
	bool own_lines;   /* its text goes on lines of its own */
	const char *rest; /* the rest of a text for the transcript */
	size_t len;
	struct intake *text; /* a text for the cell, to be stored in `slot`; or NULL */
	char **slot;
};

struct runner {
	struct runner_context c;
	struct interpreter *interpreter;
	struct loop_io pty_io;
	struct loop_io control_io;
	struct loop_io commands_io; /* while a pipe to the driver is full */
	struct channel *link;
	struct frame_reader *frames;
	struct runner_intake intake;
	struct incoming incoming; /* memory of an incomplete or current frame */
	struct buf to_driver;     /* whole frames */
	char *path;
	char *compiled; /* name in the driver cache, or NULL */
	const char *reason;
	char *version;
	char *expected_kill; /* the reason to report if it is killed, or NULL */
	struct loop_timer ready;
	struct loop_timer gone_timer;
	struct loop_timer closed_timer;
	struct loop_timer restart_timer;

	struct list queue;
	struct queued_cell *current;
	struct cell *cell;
	struct transcript *transcript;
	struct transcript *background; /* output between cells */
	struct transcript *startup;    /* of a prestarted one: output until it was ready */
	uint64_t started_us;
	struct loop_timer flow;
	struct loop_defer kick; /* starts the next cell outside of callbacks */

	struct loop_timer deadline;
	uint64_t clock_end_ms; /* when the deadline is */
	struct loop_timer escalation;
	struct buf dump;        /* terminal output since a stack dump was requested */
	char *abort_reason;     /* why it will be killed after its stack dump, or NULL */
	uint64_t stop_ms;       /* when the cell was first asked to end */
	uint64_t escalation_ms; /* start of the escalation's times */
	uint64_t grace_end_ms;  /* end of the grace period; 0: the cell is in none */

	struct runner_watch watch;
	struct runner_wait wait;
	char *answer; /* to be typed if a last look agrees, or NULL */
	size_t answer_len;
	uint64_t answer_wait; /* number of the wait for it */
	struct list typed;    /* not written to the terminal yet */
	bool fed;             /* some of it was written to the terminal and may be unread */
	struct cursor_keys cursor_keys; /* as the cell's programs asked for it */
	struct loop_timer typing;

	uint64_t installing;        /* the cell that waits for packages, or 0 */
	struct runner_query *query; /* sent and not answered */
	struct runner_save *save;   /* under way, or NULL */
	uint64_t query_count;
	struct loop_timer query_timer;
	void (*children_counted)(struct runner *runner, int count);

	enum runner_state state;
	enum runner_stop stop; /* the strongest way that was requested for this cell */
	unsigned int step;     /* next step of the escalation; 0: no step was made */
	unsigned int typing_pause_ms;
	unsigned int crowd_looks; /* polls in a row that found no room for a process */
	enum crowd crowd;         /* as it was found since the start: a user's may have gone */
	struct runner_stray stray;
	bool held; /* until runner_next */
	bool timed_out;
	bool interrupt_taken;    /* the last interrupt has reached the cell's code */
	bool handles_interrupts; /* session code has a handler of its own, as its driver reports */
	bool restarting;         /* sandbox or supervisor died in a start: this is the last try */
	bool looked;             /* runner_observe was called: an answer has shown some output */
	bool quits;              /* it ends by itself: it gets no cell and no question any more */
	bool active;             /* threads, timers or connections went on after its last cell */
	bool exited;             /* the last interpreter that was started ended by exit */
	char nonce[RUNNER_NONCE_LEN + 1];
};

/* A question that the driver answers between cells. */
struct runner_query {
	struct runner *runner; /* the runner that was asked; NULL when it was refused, because the
				  runner may be gone first */
	query_done_fn *done;
	void *data;
	uint64_t id;
	const char *problem;
	struct loop_defer refused;
};

/* A save of the session's variables. */
struct runner_save {
	struct runner *runner;
	struct runner_saving to;
	struct runner_query *query; /* not answered yet, or NULL */
	uint64_t id;                /* of its frames */
	uint64_t here_until_ms;     /* when a save in the interpreter itself ends; else 0 */
	struct loop_io io;          /* the pipe "values" */
	struct loop_timer late;
	struct frame_reader *frames;
};

/* Ids of queries are above those of cells. */
#define QUERY_FIRST_ID (UINT64_C(1) << 62)

/* runner.c */
/* Moves the runner into a state that may follow its own. */
void runner_set_state(struct runner *runner, enum runner_state next);
/* Ends the running cell: the one place where that happens. */
void runner_end_cell(struct runner *runner, enum cell_state state);
/* Ends every queued cell as not started. */
void runner_fail_queue(struct runner *runner, const char *problem);

/*
 * Makes what answers show of the cell's value and traceback. Returns how many characters of library
 * frames they leave out. The caller releases it.
 */
size_t runner_result_make(const struct runner *runner, const struct cell *cell,
			  struct transcript_result *ret);
void runner_result_release(struct transcript_result *result);
/* Answers a pending count of children. */
void runner_end_count(struct runner *runner, int count);

/* runner_stop.c */
/* Starts the cell's clock with this much time until its deadline. */
void runner_start_clock(struct runner *runner, uint64_t left_ms);
/* Ends the interrupts of a cell that came back to its prompt, as interrupts do there. */
void runner_stop_interrupting(struct runner *runner);
/* Calls runner_abort after a stack dump of an interpreter that runs a cell, if it can print one. */
void runner_abort_with_dump(struct runner *runner, const char *why);
/*
 * Returns why a cell died that had to be killed; NULL when nothing stronger than SIGINT was sent.
 */
const char *runner_stop_reason(const struct runner *runner);

/* runner_where.c */
/*
 * Requests a stack dump, if the interpreter can print one; runner_read_dump gets the output that
 * follows.
 */
void runner_ask_dump(struct runner *runner);
void runner_read_dump(struct runner *runner, const char *data, size_t len);
/* Forgets the last stack dump. */
void runner_forget_dump(struct runner *runner);

/* runner_wait.c */
/* Start and stop polling, because a cell begins or ends. */
void runner_watch_start(struct runner *runner);
void runner_watch_stop(struct runner *runner);
/* Ends a wait, because the cell wrote something, or input was typed. */
void runner_watch_output(struct runner *runner);
/* Handles a `reads` frame; NULL for a new interpreter. */
void runner_watch_reads(struct runner *runner, const struct frame *frame);
void runner_watch_typed(struct runner *runner);
/* Polls a last time, at the deadline: the cell is stopped unless it waits for input. */
void runner_watch_last(struct runner *runner);

/* runner_input.c */
/* Drops input that was not read. */
void runner_type_clear(struct runner *runner);

/* runner_io.c */
loop_io_fn runner_on_pty;
loop_io_fn runner_on_control;
/* Reads the terminal until it is empty, or `max` bytes. Waits for the text of the current frame. */
size_t runner_drain(struct runner *runner, size_t max);
/* Notes new output in the transcript, from the terminal or from the driver. */
void runner_note_output(struct runner *runner);
/*
 * Makes the output of the running cell's terminal so far background output: it is older than the
 * cell.
 */
void runner_begin_output(struct runner *runner);
/* Opens a transcript for the running cell's terminal. */
void runner_open_transcript(struct runner *runner);
/* Watches the control channel and the terminal, as far as they may be read now. */
void runner_watch_io(struct runner *runner);
/* Ends an interpreter whose control channel broke the protocol. */
void runner_break_channel(struct runner *runner, const struct err *err);
void runner_send_ack(struct runner *runner, uint64_t id);
/* Reads the control channel, a slice or everything, and handles its frames. */
void runner_read_control(struct runner *runner, bool to_the_end);
/* Sends what to_driver holds, as far as the driver accepts it. */
void runner_flush(struct runner *runner);
/*
 * Reports to the driver that its cell must end; also by the descriptor "interrupt", if there is
 * one.
 */
void runner_send_interrupt(struct runner *runner);

/* runner_frames.c */
/*
 * Handles the frames that have arrived, as far as one turn has room; the rest follows in later
 * turns.
 */
void runner_handle_frames(struct runner *runner);
/* Handles all frames at once, except texts that are too long for that. */
void runner_handle_last_frames(struct runner *runner);
/* Returns whether frames wait for the next turn. */
bool runner_takes_in(const struct runner *runner);
/*
 * Takes in the rest of the current frame. A text that is too long is left out, and that is
 * reported.
 */
void runner_end_intake(struct runner *runner);
/* Continues to read a frame, as there is room for it. */
void runner_on_room(struct incoming *incoming);
/* Forgets an incomplete frame. */
void runner_forget_frame(struct runner *runner);
/* Forgets the current frame. */
void runner_drop_intake(struct runner *runner);
/*
 * Returns a part's text without secrets, or NULL without such a part. Secrets are removed before
 * the text is cut further, so that no part of one remains. The caller frees it.
 */
char *runner_safe_text(const struct runner *runner, const struct frame *frame, const char *name);

/* runner_query.c */
struct query_part {
	const char *name;
	const char *data;
	size_t len;
};

struct query_request {
	const char *type;
	const struct query_part *parts;
	size_t part_count;
	uint64_t work_ms; /* that the driver may take beside RUNNER_QUERY_MS */
};

/* Sends a query, as the functions of runner.h do. Everything is borrowed for the call. */
struct runner_query *runner_ask(struct runner *runner, const struct query_request *request,
				query_done_fn *done, void *data);
/* Answers the pending query: from `frame`, or by `problem` if that is not NULL. */
void runner_end_query(struct runner *runner, const struct frame *frame, const char *problem);
/* Handles an `install` frame: a cell requests packages. */
void runner_on_install(struct runner *runner, const struct frame *frame);

/* runner_save.c */
/* Gives a save up, if one is under way. `why` is a sentence without a full stop. */
void runner_save_fail(struct runner *runner, const char *why);

/* runner_lifecycle.c */
/* Starts an interpreter. Returns -1 and sets *err; ERR_BUSY: runner_wake will come. */
int runner_start_interpreter(struct runner *runner, struct err *err) MUST_CHECK;
/* Frees the interpreter and everything that belongs to it. */
void runner_forget_interpreter(struct runner *runner);
/* Handles the `ready` frame. */
void runner_on_ready(struct runner *runner, const struct frame *frame);
/* Ends a start that failed: everything queued ends with a sentence. */
void runner_fail_start(struct runner *runner, const char *what);
/* Ends the interpreter and, if one runs, its cell: the state is lost. */
void runner_abort(struct runner *runner, const char *why);
/* Handles a control channel that the other side closed. */
void runner_on_control_closed(struct runner *runner);

#endif
