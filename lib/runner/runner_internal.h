/* SPDX-License-Identifier: MIT */
/*
 * runner_internal.h - what the parts of a runner share.
 *
 *   runner.c       queue, cells
 *   runner_stop.c  deadline, interrupts and what follows them
 *   runner_where.c where the cell is that does not end
 *   runner_watch.c does somebody wait for input?
 *   runner_type.c  typing it
 *   runner_io.c    the terminal and the control channel
 *   runner_frames.c  what comes by that
 *   runner_ask.c   questions to the driver, and the one that it may ask
 *   runner_life.c  the interpreter's start and end
 *   runner_ahead.c an interpreter that waits for its session
 */
#ifndef RUNNER_RUNNER_INTERNAL_H
#define RUNNER_RUNNER_INTERNAL_H

#include "event/loop.h"
#include "proc/interpreter.h"
#include "runner/holdings.h"
#include "runner/runner.h"
#include "runner/transcript.h"
#include "runtime/channel.h"
#include "runtime/frame.h"

enum {
	RUNNER_NONCE_LEN = 32,
	RUNNER_UNREAD_MAX = 256 << 10, /* bytes that a driver may leave unread and be listened to */
};

/* Where a cell's interrupt went, by the terminal's foreground groups. */
struct runner_stray {
	pid_t own;     /* the interpreter's group */
	pid_t taker;   /* that which got the last interrupt */
	pid_t seen;    /* that of the last look */
	unsigned gone; /* how many programs have come and gone since, none of them seen twice */
	bool arrived;  /* the interpreter itself got it */
};

struct queued_cell {
	struct list node;
	struct runner *runner;
	void *data;
	char *code;
	size_t code_len;
	uint64_t timeout_ms;
	uint64_t number; /* of its cell */
};

/* Looking for who waits. */
/* What the driver says about its event loop and the terminal. */
enum reading {
	READING_UNKNOWN,
	READING_NO,
	READING_YES,
};

struct runner_watch {
	struct loop_timer timer;
	uint64_t cell;           /* that was last asked about */
	uint64_t output;         /* counts whatever shows that the cell goes on */
	uint64_t quiet_since_ms; /* that came last at */
	unsigned int looks;      /* since then */
	unsigned int agreed;     /* of them the last in a row that said the same */
	bool rested;             /* and the thread slept between the last two */
	struct input_look last;
	uint64_t second_ms; /* for the rate */
	unsigned int second_looks;
	enum reading reading;
	uint64_t reading_since; /* the cell in which it began; 0: none */
};

/* What the text of a frame at hand is for. */
enum intake_as { INTAKE_DISPLAY, INTAKE_OUTPUT, INTAKE_RESULT, INTAKE_DONE };

/* A frame at hand, and how far it is taken in. */
struct runner_intake {
	struct loop_timer late;    /* runs while a frame is not whole */
	struct loop_defer turn;    /* runs where frames wait for it; nothing is read meanwhile */
	size_t room;               /* bytes that this turn may still take in */
	const struct frame *frame; /* in the reader, which is not touched meanwhile; NULL: none */
	enum intake_as as;
	bool own_lines;   /* its text stands on lines of its own */
	const char *rest; /* of a text that the transcript gets */
	size_t len;
	struct intake *text; /* one that the cell gets, in `slot`; or NULL */
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
	struct incoming incoming; /* what is there of a frame, or at hand */
	struct buf to_driver;     /* whole frames */
	char *path;
	char *compiled; /* or NULL: see driver_cache_name */
	const char *reason;
	char *version;
	char *expected_kill; /* why it would be killed, or NULL */
	struct loop_timer ready;
	struct loop_timer gone_timer;
	struct loop_timer closed_timer;
	struct loop_timer restart_timer;

	struct list queue;
	struct queued_cell *current;
	struct cell *cell;
	struct transcript *transcript;
	struct transcript *background; /* between cells */
	struct transcript *startup;    /* of one that was asked ahead: from before that, or NULL */
	uint64_t started_us;
	struct loop_timer flow;
	struct loop_defer kick; /* starts the next cell outside of callbacks */

	struct loop_timer deadline;
	uint64_t clock_end_ms; /* the deadline */
	struct loop_timer escalation;
	struct buf dump;        /* what came from the terminal since it was asked where it is */
	char *abort_reason;     /* why it is killed once it has said where it is, or NULL */
	uint64_t stop_ms;       /* when its end was asked for */
	uint64_t escalation_ms; /* what the times of the steps count from */
	uint64_t grace_end_ms;  /* of a cell that has not ended at its deadline; 0: of none */

	struct runner_watch watch;
	struct runner_wait wait;
	char *answer; /* to be typed when a last look agrees, or NULL */
	size_t answer_len;
	uint64_t answer_wait; /* its number */
	struct list typed;    /* not written to the terminal yet */
	bool fed;             /* something was written to it, and may still be unread */
	struct loop_timer typing;

	uint64_t installing; /* the cell that waits for packages, or 0 */
	struct query *query; /* asked and not answered */
	uint64_t query_count;
	struct loop_timer query_timer;
	void (*children_counted)(struct runner *runner, int count);

	enum runner_state state;
	enum runner_stop stop; /* the strongest asked for, for this cell */
	unsigned int step;     /* the next of the escalation; 0: none was done */
	unsigned int typing_pause_ms;
	unsigned int crowd_looks; /* that saw no room for a process since it began to start */
	struct runner_stray stray;
	bool held; /* until runner_next */
	bool timed_out;
	bool interrupt_taken; /* by the cell's code: the last one has come there */
	bool restarting; /* a start failed as sandbox or minder died: the next is the last try */
	bool looked;     /* a look has shown the start of the cell's output */
	char nonce[RUNNER_NONCE_LEN + 1];
};

/* A question that the driver answers between cells. */
struct query {
	struct runner *runner; /* that was asked; NULL when it was refused: it may be gone first */
	query_done_fn *done;
	void *data;
	uint64_t id;
	const char *problem;
	struct loop_defer refused;
};

/* Ids of questions lie above those of cells. */
#define QUERY_FIRST_ID (UINT64_C(1) << 62)

/* runner.c */
void runner_set_state(struct runner *runner, enum runner_state next);
/* Ends the running cell: the one place where that happens. */
void runner_end_cell(struct runner *runner, enum cell_state state);
/* Ends every waiting run as not started. */
void runner_fail_queue(struct runner *runner, const char *problem);
/* Starts what waits, after this turn's callbacks. */
void runner_kick(struct runner *runner);
/* The answer to the pending query; `problem` NULL when `frame` has it. */
void runner_end_query(struct runner *runner, const struct frame *frame, const char *problem);

/* A cell wants packages. */
void runner_on_install(struct runner *runner, const struct frame *frame);
/* Answers a pending count of children, if there is one. */
void runner_end_count(struct runner *runner, int count);

/* runner_stop.c */
/* The cell has this much time left until its deadline. */
void runner_start_clock(struct runner *runner, uint64_t left_ms);
/* A cell that was to be interrupted came back to its prompt: that is what interrupts do there. */
void runner_stop_interrupting(struct runner *runner);
/* runner_abort for an interpreter that runs a cell; it says first where it is, if it can. */
void runner_abort_with_dump(struct runner *runner, const char *why);
/* Why a cell died that had to be killed; NULL when nothing stronger than SIGINT was sent. */
const char *runner_stop_reason(const struct runner *runner);

/* runner_where.c */
/* Asks the interpreter where it is, if it can say so; what the terminal then brings is read. */
void runner_ask_dump(struct runner *runner);
void runner_read_dump(struct runner *runner, const char *data, size_t len);
/* Forgets what it said. */
void runner_forget_dump(struct runner *runner);

/* runner_watch.c */
/* A cell begins, and ends. */
void runner_watch_start(struct runner *runner);
void runner_watch_stop(struct runner *runner);
/* The cell wrote something; somebody typed something: a wait is over. */
void runner_watch_output(struct runner *runner);
/* A `reads` frame came; NULL: a new interpreter is there. */
void runner_watch_reads(struct runner *runner, const struct frame *frame);
void runner_watch_typed(struct runner *runner);
/* Its time is over: one more look, then the wait goes on or the cell is stopped. */
void runner_watch_last(struct runner *runner);

/* runner_type.c */
/* Drops what was typed and not read. */
void runner_type_clear(struct runner *runner);

/* runner_io.c */
loop_io_fn runner_on_pty;
loop_io_fn runner_on_control;
/* Reads the terminal until it is empty, or `max` bytes. Not before the text of a frame at hand. */
size_t runner_drain(struct runner *runner, size_t max);
/* Something was written to the transcript that the terminal, or the driver for it, brought. */
void runner_note_output(struct runner *runner);
/* What the running cell's terminal has shown is older than the cell: background output. */
void runner_begin_output(struct runner *runner);
/* For the running cell's terminal. */
void runner_open_transcript(struct runner *runner);
/* Reads from the driver and the terminal as far as that may be now. */
void runner_watch_io(struct runner *runner);
/* The other side broke the grammar of its channel. */
void runner_break_channel(struct runner *runner, const struct err *err);
void runner_send_ack(struct runner *runner, uint64_t id);
/* Reads the control channel, a slice or all there is, and acts on its frames. */
void runner_read_control(struct runner *runner, bool to_the_end);
/* Sends what to_driver holds, as far as the driver takes it. */
void runner_flush(struct runner *runner);
/* Tells the driver that its cell is to end; also by the descriptor "interrupt", if it has one. */
void runner_send_interrupt(struct runner *runner);

/* runner_frames.c */
/* Acts on what has come, as far as one turn has room; the rest follows in the next ones. */
void runner_handle_frames(struct runner *runner);
/* Acts on all of it at once, but for texts that are too long for that. */
void runner_handle_last_frames(struct runner *runner);
/* A frame or more wait for the next turn. */
bool runner_takes_in(const struct runner *runner);
/* Takes in the frame at hand, if there is one; what is too long for that is left out, and told. */
void runner_end_intake(struct runner *runner);
/* There is room for more of a frame. */
void runner_on_room(struct incoming *incoming);
/* What has come of an unfinished frame is not kept. */
void runner_give_up_frame(struct runner *runner);
/* Forgets it. */
void runner_drop_intake(struct runner *runner);

/* runner_life.c */
/* ERR_BUSY: not yet, runner_wake will come. */
int runner_start_interpreter(struct runner *runner, struct err *err) MUST_CHECK;
/* Frees the interpreter and everything around it. */
void runner_forget_interpreter(struct runner *runner);
/* The `ready` frame came. */
void runner_on_ready(struct runner *runner, const struct frame *frame);
/* The interpreter never became ready: everything waiting fails with a sentence. */
void runner_fail_start(struct runner *runner, const char *what);
/* The state is lost: ends the cell, if one runs, and the interpreter. */
void runner_abort(struct runner *runner, const char *why);
/* The control channel was closed by the other side. */
void runner_on_control_closed(struct runner *runner);

#endif
