/* SPDX-License-Identifier: MIT */
/*
 * lostcells.h - collects the cells of a session that ran when its server was killed. It also takes
 * the last cell of the session, if the audit may lack its end.
 *
 * The file LOSTCELLS_RECORD in the session's journal folder has what the server's successor needs:
 * an object of the caller's, and the number of the first cell that the server ran. Cells of earlier
 * lives of a session have their ends in the audit already.
 */
#ifndef WORKSPACE_LOSTCELLS_H
#define WORKSPACE_LOSTCELLS_H

#include <stdint.h>

struct json_t;
struct lostcells;

#define LOSTCELLS_RECORD "audit"

/* Writes the record; adds the number to the object. A failure is only logged. */
void lostcells_record(int journal_fd, struct json_t *record, uint64_t first_cell);

/* Reads the record. lostcells_free frees the result. Returns NULL if there is none. */
struct lostcells *lostcells_read(int journal_fd);
/* Reads the record as lostcells_read does, and removes it, so that it is not reported again. */
struct lostcells *lostcells_take(int journal_fd);
void lostcells_free(struct lostcells *lost);
enum { LOSTCELLS_TYPED_MAX = 64 << 10 /* bytes of typed input of a cell */ };
/*
 * Adds a cell of the session, unless it is of an earlier life. `typed_own` is what was typed to it,
 * or NULL.
 */
void lostcells_add(struct lostcells *lost, uint64_t number, const char *language, const char *state,
		   struct json_t *typed_own);
/* Adds what the code of a killed cell installed, as the journal has it, under the same condition.
 */
void lostcells_add_installed(struct lostcells *lost, uint64_t number, struct json_t *fields_own);

struct lostcells_report {
	const struct json_t *record;    /* of lostcells_record() */
	const struct json_t *cells;     /* {cell, language, state} each, and typed */
	const struct json_t *installed; /* of lostcells_add_installed() */
	const char *kept_folder; /* as the user would write it; NULL if nothing was exported */
};
/* Calls `fn` if there are cells. */
void lostcells_deliver(const struct lostcells *lost, const char *kept_folder,
		       void (*fn)(void *data, const struct lostcells_report *report), void *data);

#endif
