/* SPDX-License-Identifier: MIT */
/* taken.h - values that a query takes out of JSON, beside constants of a kind that they have not.
 */
#ifndef SQL_TAKEN_H
#define SQL_TAKEN_H

#include <sqlite3.h>

#include "side.h"
#include "sink.h"

/* Told once. All is borrowed. */
struct taken {
	sqlite3 *db;
	struct sink *sink;
	bool told;
};

/* Tells where `a` takes numbers out of a column's JSON and `b` is a text, or the other way round.
 */
void taken_compare(struct taken *taken, const struct sides *sides, const struct side *a,
		   const struct side *b);

#endif
