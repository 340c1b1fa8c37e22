/* SPDX-License-Identifier: MIT */
/* taken.h - finds values taken from JSON that are compared with constants of another kind. */
#ifndef SQL_TAKEN_H
#define SQL_TAKEN_H

#include <sqlite3.h>

#include "side.h"
#include "sink.h"

/* Reported once. All members are borrowed. */
struct taken {
	sqlite3 *db;
	struct sink *sink;
	bool reported;
};

/*
 * Reports a comparison in which `a` takes numbers from a column's JSON and `b` is a text, or the
 * reverse.
 */
void taken_compare(struct taken *taken, const struct sides *sides, const struct side *a,
		   const struct side *b);

#endif
