/* SPDX-License-Identifier: MIT */
/*
 * session_values.h - saves the variables of a session, and brings them back.
 *
 * They are saved when no cell has begun for a moment, by a copy of the interpreter that works while
 * cells run. At the server's end the interpreter itself saves what is not saved yet. The record
 * says after which cell that was.
 *
 * A new interpreter does not have the saved variables. Until they are back it saves nothing over
 * them, unless it has run SESSION_VALUES_HELD_CELLS cells: then the session evidently goes on
 * without them. The same holds while some of them could not be loaded.
 */
#ifndef SESSION_SESSION_VALUES_H
#define SESSION_SESSION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct runner;
struct session;
struct session_values;

enum {
	SESSION_VALUES_QUIET_MS =
		1000,              /* since the last cell: models often send several in a row */
	SESSION_VALUES_PARTS = 10, /* the pause after a save, in lengths of the save */
	SESSION_VALUES_TRIES = 3,  /* of a save after a cell: a value may end each copy */
	SESSION_VALUES_HELD_CELLS = 10, /* messages and help say ten */
};

/* Begins with a space. */
#define SESSION_VALUES_STAY " Saved variables stay until ten cells have run without them."

/* Reads what is saved in the session's folder, and removes what a killed server left. */
struct session_values *session_values_new(struct session *session);
/* Frees it. The runners must be gone. May be NULL. */
void session_values_free(struct session_values *values);
/* Notes that a cell has ended, and so may have changed variables. */
void session_values_ran(struct session_values *values, struct runner *runner, uint64_t cell);
/* Notes that the interpreter's state is lost. */
void session_values_lost(struct session_values *values, const struct runner *runner);
/* Notes that the session's interpreters begin anew. */
void session_values_begin_anew(struct session_values *values);
/* Notes that all recorded cells have run again, in new interpreters. */
void session_values_rerun(struct session_values *values);

struct session_saved {
	uint64_t cell;       /* after which the variables were saved; 0: none are */
	uint64_t first_cell; /* those of earlier cells are not among them */
	uint64_t names;      /* untrusted, as is `ms` */
	uint64_t ms;         /* that bringing them back may take */
};
struct session_saved session_values_saved(const struct session *session);
/*
 * Appends sentences on the cells of its language that ran later, and on languages whose variables
 * are not saved; nothing if there are none.
 */
void session_values_put_later(const struct session *session, struct buf *out);
/*
 * Saves a last time, because the interpreters end in `within_ms`. Returns false if there is nothing
 * to wait for; else `done` is called once, when that is over or the session ends.
 */
bool session_values_save_last(struct session *session, uint64_t within_ms, void (*done)(void *data),
			      void *data);
/* Forgets the `done` of session_values_save_last. */
void session_values_forget_last(struct session *session);
/* Does that, and ends a save in the interpreter itself, because the session is used again. */
void session_values_stop_last(struct session *session);

/*
 * Begins to bring the saved variables back, as a replay of cells (restore.h) begins. Returns -1 and
 * sets *err: ERR_NOT_FOUND if nothing is saved, ERR_BUSY if something is under way in the session.
 */
int session_values_restore(struct session *session, struct err *err) MUST_CHECK;

#endif
