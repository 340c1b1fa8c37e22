/* SPDX-License-Identifier: MIT */
/*
 * dated.h - finds date functions that return NULL for every date, and comparisons with texts that
 * they never return.
 */
#ifndef SQL_DATED_H
#define SQL_DATED_H

#include <sqlite3.h>

#include "side.h"
#include "sink.h"

/* Each kind is reported once. All members are borrowed. */
struct dated {
	const struct clause *clause;
	sqlite3 *db;
	struct sink *sink;
	bool format;
	bool modifier;
	bool value;
	bool compared;
};

/* Reports a call of a date function at `at` that returns NULL for its constants. */
void dated_look(struct dated *dated, size_t at);
/*
 * Reports a comparison in which `a` is such a call and `b` is a text in another form, or a midnight
 * beside days. `shorter`: it matters that equal moments are shorter texts in `a`.
 */
void dated_compare(struct dated *dated, const struct side *a, const struct side *b, bool orders,
		   bool shorter);

#endif
