/* SPDX-License-Identifier: MIT */
/*
 * report.h - renders cells as a page of HTML to read, piece by piece.
 *
 *   report = head *( [ notes ] cell ) *late tail
 *
 * The page is one file without script. Its policy forbids scripts and every request, and allows
 * only its own style sheet (report.css) and pictures that are in it. All that session code chose
 * is text (html.h), PNG or JPEG. Code is folded, and so are cells that failed.
 */
#ifndef JOURNAL_REPORT_H
#define JOURNAL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "journal/entry.h"

enum {
	REPORT_IMAGES_MAX = 8 << 20 /* bytes of one cell's figures in base64; as in the notebook */
};

/* The facts at the beginning. Strings are NULL if they are not known. */
struct report_about {
	const char *session_id;
	const char *title;  /* of the session */
	const char *server; /* the version of ptycell */
	const char *kept;   /* the folder of the results */
	const char *begun;  /* times, in UTC: 2026-11-27T15:11:49.622Z */
	const char *ended;
	json_t *languages; /* {NAME: {"cells": COUNT, "version": TEXT}} */
	size_t cells;
	size_t failed;
};

/* Returns whether a cell that ended so is marked and folded. */
bool report_failed(const char *state);
void report_head(struct buf *out, const struct report_about *about);
/* Appends what happened before a cell: a list of the events that notebook_setup.h names. */
void report_notes(struct buf *out, const json_t *notes);
/* Appends a cell. If `outputs` is false, a note replaces its outputs. */
void report_cell(struct buf *out, const struct journal_entry *entry, bool outputs);
/* Appends output that no cell has. `language` may be NULL. */
void report_late(struct buf *out, const char *language, const char *text, size_t len);
/* Notes that `count` cells are not shown until cell `number` has ended. */
void report_later(struct buf *out, size_t count, uint64_t number);
/* Ends the page, with a note about the `left_out` cells that came after the last one. */
void report_tail(struct buf *out, uint64_t left_out);

#endif
