/* SPDX-License-Identifier: MIT */
/* cell.h - one piece of code and everything that is told about its run. */
#ifndef RUNNER_CELL_H
#define RUNNER_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "workspace/scan.h"

struct holder;
struct runner_wait;

enum cell_state {
	CELL_DONE,        /* ran to its end, or ended itself by SystemExit */
	CELL_RAISED,      /* an exception came out of it */
	CELL_INTERRUPTED, /* somebody asked for the end */
	CELL_TIMED_OUT,   /* its deadline passed; see interpreter_lost and grace_left_ms */
	CELL_DIED,        /* the interpreter ended while it ran */
	CELL_NOT_STARTED, /* it never ran */
	CELL_RUNNING,     /* it runs on: what is told is what there is so far */
	CELL_WAITING,     /* the same, and somebody in it waits for input on the terminal */
};

enum {
	CELL_IMAGES_MAX = 20,             /* taken from the driver; answers show fewer */
	CELL_IMAGE_BYTES_MAX = 8 << 20,   /* of one image */
	CELL_IMAGES_BYTES_MAX = 16 << 20, /* of all images of a cell: the server holds them */
	CELL_IMAGE_SIDE_MAX = 2000,       /* pixels: models refuse a chat with larger ones */
	CELL_TEXT_CHARS_MAX =
		1 << 20, /* of a value or traceback: a million, and what is left out */
	CELL_TEXT_BYTES_MAX = 4 << 20,   /* of them */
	CELL_WORDS_BYTES_MAX = 16 << 10, /* of each other text from the driver */
	CELL_TOLD_BYTES_MAX = 64 << 10,  /* of what earlier answers showed, for the journal */
};

/* Forms of values that are shown as text or not at all: bits of cell.left_out. */
enum cell_form { CELL_HTML = 1, CELL_SVG = 2, CELL_JAVASCRIPT = 4 };

struct cell_image {
	struct list node;
	char *file;     /* its name in output/, or NULL */
	bool looked_at; /* it goes into the answer at hand */
	bool shown;     /* in an earlier answer */
	const char *mime;
	uint32_t width;
	uint32_t height;
	size_t len;
	char data[];
};

/* Strings are NULL when there is nothing; foreign ones are not cleaned yet unless said. */
struct cell {
	uint64_t number;
	const char *language; /* static */
	uint64_t elapsed_us;
	char *code; /* may hold NUL */
	size_t code_len;
	enum cell_state state;
	bool ran;       /* false: it never reached the driver */
	bool told_cut;  /* `told` lacks some */
	bool spool_cut; /* spool_path holds only the start: it is larger than spool_max */
	bool clipped;   /* an answer did not show all of its output */
	bool cancelled; /* its call was */
	bool overdue;   /* interrupted at its deadline, and came to an end of its own */
	bool gathered;  /* its output came in blocks: the last one may be lost with the interpreter
			 */
	bool bare;      /* only number, state and time are told */
	bool raised_by_code; /* the cell made its error: what that says tells nothing of limits */
	int scan_error;      /* the errno for which not all files were looked at; 0: none */
	bool scan_capped;    /* not all files were looked at: they are too many */

	struct buf text;   /* the terminal's text, cleaned and clipped */
	struct buf result; /* value and traceback, cleaned and clipped: they stand behind `text` */
	struct buf told;   /* what earlier answers showed of it, as far as it fits */
	size_t text_shown; /* characters of `text` and `result` */
	size_t text_total; /* that there are */
	char *spool_path;  /* where all of them lie */
	size_t spooled;    /* bytes of its output there */
	size_t lead;       /* bytes of `told` and `text` before its own output */
	size_t background; /* characters of `text` that came before the cell began */

	char *value; /* text of the last expression's value; as it is shown, as is the traceback */
	char *traceback;
	char *error_name; /* "ZeroDivisionError" */
	char *error_text;
	char *missing_module;
	char *names; /* changed globals, one line each: NAME TYPE [SHAPE] */

	bool has_exit_code;
	int exit_code;
	int signal;          /* that ended the interpreter, or 0 */
	int children;        /* live child processes at the end */
	uint64_t file_max;   /* of one file at its end, for lack of room in the folder; 0: no file
				could grow; UINT64_MAX: there was room */
	uint64_t disk_bytes; /* what the folder held then */
	bool memory_near;    /* shortly before its end memory was nearly all that there may be */
	uint64_t memory_stopped; /* it was interrupted because the session used so much; 0: not */
	uint64_t cpu_stopped_ms; /* and here, processor time */
	bool disk_stopped;       /* it went on growing all the same, so the cell was interrupted */
	bool interpreter_lost;   /* state is gone */
	bool session_ended;      /* before this was told: its files are gone, too */
	const struct runner_wait *wait; /* who waits, in CELL_WAITING; borrowed from the runner */
	uint64_t timeout_ms;            /* its deadline, for the explanation */
	uint64_t grace_left_ms;         /* timed out, yet running: for this long at most */
	char *problem; /* why it could not run, or what broke: a sentence of ours */

	struct holder *holder; /* whose memory it is, borrowed; or NULL */
	size_t held;           /* bytes that are counted there */
	unsigned left_out;     /* enum cell_form */
	struct list images;
	size_t images_dropped;
	size_t images_dropped_saved; /* of those, that lie in output/ */
	struct change *changes;      /* copies */
	size_t change_count;
};

struct cell *cell_new(uint64_t number, const char *language);
/* NULL is allowed. */
void cell_free(struct cell *cell);
/* "done", "raised", ... as the status line has it. */
const char *cell_state_name(enum cell_state state);
/* It runs, or waits: there is an end to be told. */
bool cell_goes_on(const struct cell *cell);
/* All that there is goes into an answer. */
void cell_look(struct cell *cell);
/* What the last look's answer showed of it goes to `told`, and is not shown again. */
void cell_forget_shown(struct cell *cell);
/* Forgets the images that no answer has shown. */
void cell_drop_images(struct cell *cell);
/* Takes copies of a scan's changes. */
void cell_set_changes(struct cell *cell, const struct change *changes, size_t count);
/* The text that `slot`, one of the cell's, points to; cut, and that is told, where there is no
 * room.
 */
void cell_set_text(struct cell *cell, char **slot, char *text_own);
/* Keeps a copy when it is a PNG or JPEG within the limits, alone and with those kept, and there is
 * room; counts it as dropped else. */
void cell_add_image(struct cell *cell, const void *data, size_t len, char *file_own);

#endif
