/* SPDX-License-Identifier: MIT */
/* dated.h - functions of dates: those that give NULL for each date, and texts that they never give.
 */
#ifndef SQL_DATED_H
#define SQL_DATED_H

#include <sqlite3.h>

#include "side.h"
#include "sink.h"

/* Each is told once. All is borrowed. */
struct dated {
	const struct clause *clause;
	sqlite3 *db;
	struct sink *sink;
	bool format;
	bool modifier;
	bool value;
	bool compared;
};

/* Tells where the call of a function of dates at `at` gives NULL for its constants. */
void dated_look(struct dated *dated, size_t at);
/*
 * Tells where `a` is a call of such a function and `b` a text in another form, or a midnight beside
 * days. `shorter`: it matters that equal moments are shorter texts in `a`.
 */
void dated_compare(struct dated *dated, const struct side *a, const struct side *b, bool orders,
		   bool shorter);

#endif
