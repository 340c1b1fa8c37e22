/* SPDX-License-Identifier: MIT */
/*
 * notebook_setup.h - the cells of a notebook that make it run again elsewhere.
 *
 * The first two describe the session and define `ptycell` (notebook_setup.py), a helper that
 * prepares a working folder and runs cells of other languages. The others repeat what happened
 * between cells: a file came in, packages were installed, state was lost, input was typed.
 */
#ifndef JOURNAL_NOTEBOOK_SETUP_H
#define JOURNAL_NOTEBOOK_SETUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* The events between cells. lib/journal/FORMAT.md describes their fields. */
#define NOTE_INPUT "input"
#define NOTE_INSTALLED "installed"
#define NOTE_LOST "lost"
#define NOTE_STARTED "started"
#define NOTE_RESUMED "resumed"
#define NOTE_VALUES "variables_restored"
#define NOTE_RERUN "cells_run_again"

/* The cell whose code asked for an installation. */
#define NOTE_BY "by"

/*
 * Returns true if the fields of an installation say that the session has other packages after it:
 * it installed some, or it removed all of them.
 */
bool notebook_setup_changes_packages(const json_t *fields);
/* Returns true if the fields of an event say that it failed, and that no cell left anything. */
bool notebook_setup_restored_nothing(const json_t *fields);
/*
 * Appends the first cells. `about` has the fields of the event `session`; `notes` is the list of
 * the events before the first cell, `typed` that of the texts that the cell reads.
 */
void notebook_setup_head(struct buf *out, const json_t *about, const json_t *notes,
			 const json_t *typed);
/*
 * Appends the cell for the events before cell `number` and for the texts that this cell reads, with
 * a separator behind it, or nothing if there are none.
 */
void notebook_setup_notes(struct buf *out, uint64_t number, const json_t *notes,
			  const json_t *typed);
/* Returns the magic that runs a cell of this language, or NULL if nothing in Jupyter runs it. */
const char *notebook_setup_magic(const char *language);

#endif
