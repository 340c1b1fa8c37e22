/* SPDX-License-Identifier: MIT */
/* cell.h - one piece of code and its outcome. */
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
	CELL_INTERRUPTED, /* interrupted by a user, a model or a limit */
	CELL_TIMED_OUT,   /* its deadline passed: see interpreter_lost and grace_left_ms */
	CELL_DIED,        /* the interpreter ended while it ran */
	CELL_NOT_STARTED, /* it never ran */
	CELL_RUNNING,     /* it runs on; the fields have what there is so far */
	CELL_WAITING,     /* it runs on and waits for input on the terminal */
};

enum {
	CELL_IMAGES_MAX = 20,           /* accepted from the driver; answers show fewer */
	CELL_IMAGE_BYTES_MAX = 8 << 20, /* of one image */
	CELL_IMAGES_BYTES_MAX = 16
				<< 20, /* of all images of a cell, because the server holds them */
	CELL_IMAGE_SIDE_MAX = 2000,    /* pixels: models refuse a chat with larger ones */
	CELL_SOUNDS_MAX = 4,           /* accepted from the driver */
	CELL_SOUND_BYTES_MAX = 400000, /* of one, whose base64 must fit into an answer */
	CELL_TEXT_CHARS_MAX = 1 << 20, /* of a value or traceback: a million, and a note */
	CELL_TEXT_BYTES_MAX = 4 << 20, /* of a value or traceback */
	CELL_TABLE_BYTES_MAX = 256 << 10,   /* of a value as a table: it is parsed at once */
	CELL_WORDS_BYTES_MAX = 16 << 10,    /* of any other text from the driver */
	CELL_REPORTED_BYTES_MAX = 64 << 10, /* of what earlier answers showed, for the journal */
};

/* Forms of values that are shown as text or not at all: bits of cell.left_out. */
enum cell_form { CELL_HTML = 1, CELL_SVG = 2, CELL_JAVASCRIPT = 4 };

/* An image, or a sound, which has no file and no size in pixels. */
struct cell_image {
	struct list node;
	char *file;    /* its name in output/, or NULL */
	bool observed; /* the current answer shows it */
	bool shown;    /* an earlier answer showed it */
	const char *mime;
	uint32_t width;
	uint32_t height;
	size_t len;
	char data[];
};

/*
 * Strings are NULL when there is nothing. Untrusted strings are not sanitized, except where a
 * comment says so.
 */
struct cell {
	uint64_t number;
	const char *language; /* static */
	uint64_t elapsed_us;
	char *code; /* may hold NUL */
	size_t code_len;
	enum cell_state state;
	bool ran;            /* false: it never reached the driver */
	bool reported_cut;   /* `reported` is incomplete */
	bool spool_cut;      /* the spool has only the start: the output exceeded spool_max */
	bool clipped;        /* an answer did not show all of its output */
	bool cancelled;      /* its call was cancelled */
	bool overdue;        /* interrupted at its deadline, but ended by itself */
	bool gathered;       /* its output came in blocks: the last one may be lost */
	bool bare;           /* only number, state and time are set */
	bool raised_by_code; /* the cell raised its error: that says nothing about limits */
	int scan_error;      /* the errno for which the scan is incomplete; 0: none */
	bool scan_capped;    /* the scan is incomplete because there are too many files */

	struct buf text;     /* the terminal's text, sanitized and clipped */
	struct buf result;   /* value and traceback, sanitized and clipped; they follow `text` */
	struct buf reported; /* what earlier answers showed of it, as far as there is room */
	size_t text_shown;   /* characters of `text` and `result` */
	size_t text_total;   /* characters that there are */
	size_t folded;       /* of those, characters of library frames that are never shown */
	char *spool_path;    /* file with all of them */
	size_t spooled;      /* bytes of its output in that file */
	size_t lead;         /* bytes of `reported` and `text` before its own output */
	size_t background;   /* characters of `text` that came before the cell began */

	char *value; /* text of the last expression's value, sanitized as `traceback` is */
	char *table; /* its value as a table: JSON from the driver, untrusted; or "" */
	char *traceback;
	char *error_name; /* "ZeroDivisionError" */
	char *error_text;
	char *missing_module;
	char *names;    /* lines of the names that it changed, as in runtime/frame.h */
	char *restored; /* as `restore` in runtime/frame.h: what came back */
	char *cwd; /* where the interpreter works, if that is not the folder that it began in */

	bool has_exit_code;
	int exit_code;
	int signal;           /* signal that ended the interpreter, or 0 */
	int children;         /* live child processes at the end */
	uint64_t file_max;    /* maximum size of a file at its end, lowered for lack of room in the
				 folder; 0: no file could grow; UINT64_MAX: there was room */
	uint64_t disk_bytes;  /* size of the folder at its end */
	uint64_t memory_used; /* of the session's processes, bytes at the last measure */
	bool memory_near;     /* shortly before its end nearly all memory was in use */
	uint64_t memory_stopped; /* bytes in use for which it was interrupted; 0: it was not */
	uint64_t cpu_stopped_ms; /* processor time for which it was interrupted; 0: it was not */
	bool disk_stopped;       /* interrupted because the folder grew beyond disk_max */
	bool interpreter_lost;   /* the interpreter's state is lost */
	bool session_ended;      /* the session ended before its report */
	const struct runner_wait *wait; /* the wait of CELL_WAITING; borrowed from the runner */
	uint64_t timeout_ms;            /* its deadline, for explanations */
	uint64_t grace_left_ms;         /* timed out, yet running for this long at most */
	char *problem;                  /* why it could not run, or what broke, in a sentence */

	struct holder *holder; /* accounts for its memory, borrowed; or NULL */
	size_t held;           /* bytes counted by `holder` */
	unsigned left_out;     /* bits of enum cell_form */
	struct list sounds;    /* of struct cell_image: answers have them, and no record */
	struct list images;
	size_t images_dropped;
	size_t images_dropped_saved; /* dropped images that are stored in output/ */
	struct change *changes;      /* copies */
	size_t change_count;
};

/* Makes a cell without code that has not run. `language` is static. */
struct cell *cell_new(uint64_t number, const char *language);
/* Frees it. May be NULL. */
void cell_free(struct cell *cell);
/* Returns "done", "raised", ... as in the status line. */
const char *cell_state_name(enum cell_state state);
/* Returns whether the cell runs or waits, so that its end is still to be reported. */
bool cell_goes_on(const struct cell *cell);
/* Marks everything that there is as shown by the current answer. */
void cell_observe(struct cell *cell);
/* Moves what the last answer showed to `reported`; it is not shown again. */
void cell_forget_shown(struct cell *cell);
/* Drops the images and sounds that no answer has shown. */
void cell_drop_images(struct cell *cell);
/* Takes copies of a scan's changes. */
void cell_set_changes(struct cell *cell, const struct change *changes, size_t count);
/*
 * Sets a text of the cell, to which `slot` points. Takes ownership of the text. It is cut where
 * there is no room, with a note.
 */
void cell_set_text(struct cell *cell, char **slot, char *text_own);
/*
 * Copies an image into the cell if it is a PNG or JPEG within the limits, alone and with the
 * others, and there is room. Otherwise counts it as dropped. Takes ownership of `file_own`.
 */
void cell_add_image(struct cell *cell, const void *data, size_t len, char *file_own);
/*
 * Copies a sound into the cell if it is one (mime_sound) within the limits, and there is room.
 * Otherwise no answer has it: the driver's text names its file.
 */
void cell_add_sound(struct cell *cell, const void *data, size_t len);

#endif
