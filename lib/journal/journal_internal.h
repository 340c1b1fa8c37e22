/* SPDX-License-Identifier: MIT */
/*
 * journal_internal.h - the state that adding (journal.c), the index (journal_index.c), loading
 * (journal_load.c), reading (journal_read.c), typed input (journal_input.c) and rendering the
 * notebook (journal_draw.c) share.
 */
#ifndef JOURNAL_JOURNAL_INTERNAL_H
#define JOURNAL_JOURNAL_INTERNAL_H

#include "journal/events.h"
#include "journal/journal.h"
#include "journal/script.h"

enum { JOURNAL_LANGUAGES_MAX = 16 };

/* The index entry of a cell. */
struct kept_cell {
	struct script_cell script; /* language and state are static */
	bool ran;                  /* or runs */
	bool over;
	struct event_place asked;
	struct event_place ended; /* none: it runs, it was killed, or the disk failed */
	size_t shown_count;       /* of a cell without an end: texts that answers showed */
	struct event_place *shown;
	uint64_t shown_bytes; /* in the file */
	uint64_t shown_len;   /* of the texts */
	size_t typed_count;   /* lines that were typed to it */
	struct event_place *typed;
	uint64_t typed_bytes;         /* in the file, with the waits */
	struct redact_stream *typing; /* what was typed last; may be NULL */
	uint64_t last_wait;           /* the number of the last wait that was added */
	size_t image_count;
	struct event_place *images;
	bool spooled;      /* its output is in a spool file */
	bool saved;        /* its record says where results were saved */
	bool whole;        /* all of its output is exported beside the notebook */
	json_t *left;      /* what it left when it was killed, as members of an end; may be NULL */
	size_t note_count; /* events that belong before it */
	struct event_place *notes;
	uint64_t elapsed_ms;
	size_t drawn_len; /* of its piece of the notebook; 0: not rendered since it ended */
	bool drawn_first; /* then it was the first that ran */
};

/*
 * A long output that is read from its spool file, in steps. The file is cleaned as on a screen.
 */
struct journal_spool {
	int fd;
	struct screen *screen; /* NULL: none is being read */
	size_t left;
};

/* A file in the journal's folder, into which the pieces of cells are written. */
struct journal_drawing {
	int fd;       /* -1: not drawn yet */
	uint32_t crc; /* of these bytes: */
	uint64_t size;
	struct buf piece; /* of the next cell; its first `written` bytes are in the file */
	size_t written;
};

struct journal {
	struct events *events;
	int dir_fd;
	json_t *about;        /* the fields of the event `session` */
	char *title;          /* of the first cell that has one; or NULL */
	size_t pending_count; /* events that belong before the next cell */
	struct event_place *pending;
	uint64_t max;
	uint64_t output_max;
	bool off;                    /* it takes nothing */
	const struct redact *redact; /* may be NULL */
	struct kept_cell *cells;     /* sorted by number */
	size_t count;
	size_t cap;
	size_t unfinished;
	size_t bare;
	char **words; /* of a loaded journal: names of languages and states */
	size_t word_count;
	uint64_t left_out;
	uint64_t left_out_added; /* as the file has it */
	size_t drawn_cells;      /* cells whose pieces are final, and in both files */
	struct journal_drawing notebook;
	struct journal_drawing report; /* without its head */
	struct journal_spool spool;    /* of the next of these cells */
	size_t late_count;             /* outputs that no cell has */
	struct event_place *late;
	uint64_t late_bytes;
	uint64_t audited;            /* of a loaded journal: ends before this are in the audit */
	uint64_t earlier;            /* of a loaded journal: the last cell before its last life */
	struct journal_copy *copies; /* of a loaded journal: the exported copies */
	size_t copy_count;
	struct {
		const char *language;
		size_t cells;             /* that ran */
	} tallies[JOURNAL_LANGUAGES_MAX]; /* in the order of their first cells */
};

/* Update the index, for adding and loading. Language and state must live as long as the journal. */
void journal_index_asked(struct journal *journal, const struct journal_asked *asked,
			 const struct event_place *place);
void journal_index_began(struct journal *journal, struct kept_cell *cell);
void journal_index_shown(struct kept_cell *cell, const struct event_place *place, size_t len);
/* `error_name` and `text`, what the cell printed, may be NULL. */
void journal_index_ended(struct journal *journal, struct kept_cell *cell, const char *state,
			 const char *error_name, const char *text);
/*
 * Sets the position of the cell's end and drops the texts that answers showed: they are not needed
 * any more.
 */
void journal_index_end_at(struct kept_cell *cell, const struct event_place *place);
/* Notes an event that belongs before a cell, as journal_note() says. */
void journal_index_note(struct journal *journal, const json_t *fields,
			const struct event_place *place);

/* Return the first fields of an event, as new references. */
json_t *journal_new_fields(const char *event);
json_t *journal_new_cell_fields(const char *event, uint64_t number);
/*
 * Adds an event without a text. Without room, or if the journal is off, the place's length is 0.
 * Secrets are removed from `fields` in place. Returns -1 and sets *err if the disk fails.
 */
int journal_add_fields(struct journal *journal, json_t *fields, struct event_place *ret_place,
		       struct err *err) MUST_CHECK;
/*
 * Adds an event with a text, without secrets. Without room nothing is added: the place's length is
 * 0. Returns -1 and sets *err if the disk fails.
 */
int journal_add_text(struct journal *journal, const json_t *fields, const char *text, size_t len,
		     struct event_place *ret_place, struct err *err) MUST_CHECK;

/* Takes what the record of the cell's end, which may be NULL, says of its time. */
void journal_index_record(struct kept_cell *cell, const json_t *record);

/* journal_input.c */
void journal_index_typed(struct kept_cell *cell, const struct event_place *place);
void journal_index_late(struct journal *journal, const struct event_place *place);
/* Adds what is held of the text that was typed to the cell. Returns -1 and sets *err. */
int journal_end_typed(struct journal *journal, struct kept_cell *cell, struct err *err) MUST_CHECK;
/* Returns the texts that were typed to the cell, as a new reference to an array. */
json_t *journal_read_input(const struct journal *journal, const struct kept_cell *cell);
/* Adds what was typed to the cell to its record. */
void journal_put_input(const struct journal *journal, const struct kept_cell *cell, json_t *record);
/* Appends the outputs that no cell has to the notebook. */
void journal_draw_late(const struct journal *journal, struct buf *out);

/* Opens the spool file of a cell's end. Returns false when there is none, or it cannot be opened.
 */
bool journal_spool_open(const struct journal *journal, const struct event *end,
			struct journal_spool *ret);
/* Reads the next part. Returns false when all is read. */
bool journal_spool_step(struct journal_spool *spool);
void journal_spool_close(struct journal_spool *spool);
struct kept_cell *journal_cell(const struct journal *journal, uint64_t number);

#endif
