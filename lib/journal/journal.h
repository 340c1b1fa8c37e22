/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the record of what was done in a session. A session that is resumed goes on in it.
 *
 * The file `events` (events.h), in a folder that no session sees, is the only source. A cell has an
 * event when it is requested, when it begins, for each figure, and when it ends. Notebook, script
 * and cells are rendered from these events when a client reads them, in the order of the requests.
 * A running cell is shown as running.
 *
 * The file stays below a limit. Its last eighth is reserved for code. A cell whose outputs would
 * reach into it is recorded without outputs. A cell whose code does not fit is left out and
 * counted. No recorded cell is ever dropped for a newer one.
 *
 * Reads take ranges, so that nothing large is held in memory. Sizes are those of the whole rendered
 * text.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "journal/entry.h"

struct journal;
struct redact;

enum journal_taken { JOURNAL_WHOLE, JOURNAL_WITHOUT_OUTPUTS, JOURNAL_NOT };

#define JOURNAL_NOTEBOOK_FILE "notebook.ipynb"
/* The pieces of the report between its head and its end (journal_report.h). */
#define JOURNAL_REPORT_FILE "report"
/* The folder of the cells' whole outputs, relative to the journal's folder. */
#define JOURNAL_SPOOL "../spool"

/*
 * Makes a journal; nothing is written before the first cell. `dir_fd` is borrowed. `output_max`
 * limits the terminal output of one cell that readers get. `redact` removes secrets from everything
 * that is added; it is borrowed and may be NULL.
 */
struct journal *journal_new(int dir_fd, const char *session_id, uint64_t max_bytes,
			    uint64_t output_max, const struct redact *redact);
void journal_free(struct journal *journal);
/* Turns the journal off: it takes nothing, and makes no file. */
void journal_turn_off(struct journal *journal);
bool journal_is_off(const struct journal *journal);
/*
 * Adds members to the event `session`: "server", its version, and "secrets", the names of secrets
 * that code has. Must be called before the first event.
 */
void journal_set_about(struct journal *journal, json_t *about_own);
/*
 * Loads the journal that an ended server left in this folder, which is borrowed, for reading and
 * rendering. journal_free frees the result. A cell without an end gets the state "killed". Returns
 * NULL and sets *err: ERR_SYSTEM if there is none, ERR_INVALID if it has another version.
 */
struct journal *journal_load(int dir_fd, struct err *err) MUST_CHECK;
/* The parameters of journal_new. */
struct journal_spec {
	const char *session_id;
	uint64_t max_bytes;
	uint64_t output_max;
	const struct redact *redact;
};
/*
 * Goes on in the journal that an ended server left in this folder, or makes a new one if there is
 * none. A torn event at its end is removed. A cell without an end gets the state "killed". Returns
 * NULL and sets *err as journal_load does.
 */
struct journal *journal_resume(int dir_fd, const struct journal_spec *spec,
			       struct err *err) MUST_CHECK;
/* Sets the limit for later cells. */
void journal_set_max(struct journal *journal, uint64_t max_bytes);

/*
 * Adds a requested cell. Its number must be larger than all before. Returns -1 and sets *err if the
 * disk fails; the cell is then left out.
 */
int journal_ask(struct journal *journal, const struct journal_asked *asked,
		struct err *err) MUST_CHECK;
/*
 * Notes that the cell's code is sent to its interpreter. Returns -1 and sets *err if the disk
 * fails.
 */
int journal_begin(struct journal *journal, uint64_t number, struct err *err) MUST_CHECK;
/*
 * Adds an event that a second run needs (notebook_setup.h), with these fields. It belongs before
 * cell `number`, or, if that is 0, before the first cell that has not ended, else before the next
 * one. Adds nothing if there is no room. Returns -1 and sets *err if the disk fails.
 */
int journal_note(struct journal *journal, const char *event, uint64_t number, json_t *fields_own,
		 struct err *err) MUST_CHECK;
/*
 * Adds an event that readers of cells do not need, with these fields. Adds nothing if there is no
 * room. Returns -1 and sets *err if the disk fails.
 */
int journal_add_event(struct journal *journal, const char *event, json_t *fields_own,
		      struct err *err) MUST_CHECK;
/* The same for the end of the session. It has how many cells were left out, if that is not known.
 */
int journal_add_end(struct journal *journal, const char *event, json_t *fields_own,
		    struct err *err) MUST_CHECK;
/* Returns true if the journal has an event. */
bool journal_any(const struct journal *journal);
/*
 * Adds the text that an answer showed of a running cell. Returns -1 and sets *err if the disk
 * fails.
 */
int journal_show(struct journal *journal, uint64_t number, const char *text, size_t len,
		 struct err *err) MUST_CHECK;
/* A wait of a running cell for input. */
struct journal_wait {
	uint64_t number;    /* in its cell, from 1 */
	const char *prompt; /* clean; "" for none */
	bool secret;        /* the input is not echoed */
	bool guessed;       /* the cell may not wait */
};
/*
 * Adds a wait, unless this one was added. Returns -1 and sets *err if the disk fails.
 */
int journal_wait(struct journal *journal, uint64_t number, const struct journal_wait *wait,
		 struct err *err) MUST_CHECK;
/*
 * Adds input that was typed to a running cell; of hidden input only that it was typed. Text that
 * may begin a secret is added when more is typed, or when the cell ends. Returns -1 and sets *err
 * if the disk fails.
 */
int journal_type(struct journal *journal, uint64_t number, const char *text, size_t len,
		 bool hidden, struct err *err) MUST_CHECK;
/*
 * Adds output of background processes that no later cell has. Returns -1 and sets *err if the disk
 * fails.
 */
int journal_add_late(struct journal *journal, const char *language, const char *text, size_t len,
		     struct err *err) MUST_CHECK;
/*
 * Adds the end of a requested cell. Secrets are removed from the record in place. Returns -1 and
 * sets *err if the disk fails; the cell is then recorded without its outputs.
 */
int journal_end(struct journal *journal, const struct journal_entry *entry,
		enum journal_taken *ret_taken, struct err *err) MUST_CHECK;
/*
 * Returns true if readers get less than the whole of the entry's output, value and traceback, which
 * its spool file has.
 */
bool journal_cuts(const struct journal *journal, const struct journal_entry *entry) MUST_CHECK;
/*
 * Notes that the end of a cell is in the audit. Without such a note, or another event, after the
 * end the next server adds it there. Returns -1 and sets *err if the disk fails.
 */
int journal_audited(struct journal *journal, uint64_t number, struct err *err) MUST_CHECK;

/*
 * Return the cells recorded, those of them without outputs, the cells left out, and the bytes on
 * the disk.
 */
size_t journal_count(const struct journal *journal);
size_t journal_bare_count(const struct journal *journal);
uint64_t journal_left_out(const struct journal *journal);
uint64_t journal_bytes(const struct journal *journal);

/* Returns the number of the last recorded cell, or 0. */
uint64_t journal_last_number(const struct journal *journal);

/* The summary of a cell, without reading its events. */
struct journal_line {
	uint64_t number;
	const char *language;
	const char *state; /* "queued", "running", "killed", or how it ended */
	bool ran;
	size_t image_count;
	bool unaudited;      /* of a loaded journal: its end may not be in the audit */
	bool earlier;        /* of a loaded journal: its last life began after this cell */
	bool whole;          /* all of its output is exported beside the notebook */
	uint64_t elapsed_ms; /* how long it ran; 0: not recorded */
};
/* Returns the cell at `index`, in the order of numbers. Returns false past the end. */
bool journal_at(const struct journal *journal, size_t index, struct journal_line *ret_line);
/* Finds the index of a cell by its number. Returns -1 and sets *err: ERR_NOT_FOUND. */
int journal_find(const struct journal *journal, uint64_t number, size_t *ret_index,
		 struct err *err) MUST_CHECK;

/*
 * Reads the installations that the code of killed cells asked for: the fields of these events, with
 * `by`. A new reference; NULL, and *err is set, if the disk fails.
 */
json_t *journal_read_installed(const struct journal *journal, struct err *err) MUST_CHECK;
/*
 * Returns what was typed to the cell at `index`: {count, bytes, input} with the inputs that fit in
 * `max` bytes, as a new reference. Returns NULL if nothing was typed.
 */
json_t *journal_read_typed(const struct journal *journal, size_t index, size_t max);

/* ---- the outputs of cells whose server was killed ---- */

/* The output that a killed cell left in the folder JOURNAL_SPOOL. */
struct journal_left {
	const char *file;
	uint64_t bytes;
	const char *whole; /* as in struct journal_entry */
};
/*
 * Sets it for a cell of a loaded journal. Readers then get the cell's output from the file, unless
 * answers have shown all of it.
 */
void journal_set_left(struct journal *journal, size_t index, const struct journal_left *left);
/* How whole outputs are exported. */
struct journal_outputs {
	/* Returns the name of a cell's file in the folder JOURNAL_SPOOL. */
	char *(*name)(uint64_t number, const char *language);
	/* Exports a file. Returns its path beside the notebook, or NULL if it is not exported. */
	char *(*export)(void *data, const struct journal_line *line, const char *file,
			uint64_t bytes);
	void *data;
};
/*
 * Exports whole outputs of a loaded journal's cells, if their files exist: outputs that the journal
 * names as exported, and outputs of killed cells that are longer than readers get. Calls
 * journal_set_left for each killed cell.
 */
void journal_export_outputs(struct journal *journal, const struct journal_outputs *outputs);

/*
 * Returns the cell's record with `code` and `figures`, a new reference. Returns NULL and sets *err.
 */
json_t *journal_read_cell(const struct journal *journal, size_t index, struct err *err) MUST_CHECK;
/*
 * Appends figure `image` of a cell in base64. Returns -1 and sets *err: ERR_NOT_FOUND if there is
 * none, ERR_LIMIT if `out` has no room for it. `ret_mime` is static.
 */
int journal_read_image(const struct journal *journal, size_t index, size_t image, struct buf *out,
		       const char **ret_mime, struct err *err) MUST_CHECK;

/* ---- notebook and script ---- */

/* Returns true if a cell ran or runs: then there are a notebook and a script. */
bool journal_has_run(const struct journal *journal);
/* Returns true if a cell of this language ran or runs. */
bool journal_has_language(const struct journal *journal, const char *language);
/*
 * Renders the notebook. It consists of the first `ret_stable` bytes of JOURNAL_NOTEBOOK_FILE, which
 * no later call changes, followed by the text appended to `tail`. The tail begins with the first
 * running cell. Cells that would make it longer than JOURNAL_TAIL_MAX plus one piece are only
 * counted in it.
 */
enum { JOURNAL_TAIL_MAX = 4 << 20 };
int journal_draw_notebook(struct journal *journal, uint64_t *ret_stable, struct buf *tail,
			  struct err *err) MUST_CHECK;
/*
 * Does one step of journal_draw_notebook ahead of it, because all of it may take long: renders, for
 * notebook and report, the next cell that no later call changes, or a part of a long one. Sets
 * `ret_more` to false if there was none.
 */
int journal_draw_cell(struct journal *journal, bool *ret_more, struct err *err) MUST_CHECK;
/*
 * Adds an event that says that the notebook rendered last, with `tail`, is about to be exported. By
 * it the next server recognises the copy. Adds nothing if there is no room. Returns -1 and sets
 * *err if the disk fails.
 */
int journal_add_copy(struct journal *journal, const struct buf *tail, struct err *err) MUST_CHECK;
/* Facts by which an exported copy is recognised. */
struct journal_copy {
	uint64_t size;
	uint32_t crc;
	uint64_t stable; /* how many of its bytes no later copy changes */
};
/* Returns the size and checksum of the notebook rendered last, with `tail`. */
struct journal_copy journal_drawn(const struct journal *journal, const struct buf *tail);
/*
 * Returns how many bytes stayed when the newest copy that was added was written over the one before
 * it; 0 if there was none. If that write was cut short, the rest is torn.
 */
uint64_t journal_copy_stayed(const struct journal *journal);
/* Returns true if a copy with this size and checksum was added. */
bool journal_has_copy(const struct journal *journal, const struct journal_copy *copy);
/* Returns a copy that a loaded journal has, the last one first. Returns false past the end. */
bool journal_copy_at(const struct journal *journal, size_t index, struct journal_copy *ret);
/* Sets *ret to the size of the notebook, or to 0 if no cell ran yet. Returns -1 and sets *err. */
int journal_notebook_size(struct journal *journal, uint64_t *ret, struct err *err) MUST_CHECK;
/* Appends at most `len` bytes of the notebook from `offset` on. Returns -1 and sets *err. */
int journal_read_notebook(struct journal *journal, uint64_t offset, size_t len, struct buf *out,
			  struct err *err) MUST_CHECK;

/*
 * Returns the language of most cells that ran, the earlier one if equal, or NULL if no cell ran.
 * Static.
 */
const char *journal_language(const struct journal *journal);
/*
 * Return the size of the script for `language`, and append at most `len` bytes of it from `offset`
 * on, or return -1 and set *err. Cells of other languages are comments in it.
 */
uint64_t journal_script_size(const struct journal *journal, const char *language);
int journal_read_script(const struct journal *journal, const char *language, uint64_t offset,
			size_t len, struct buf *out, struct err *err) MUST_CHECK;

#endif
