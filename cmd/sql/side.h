/* SPDX-License-Identifier: MIT */
/* side.h - analyzes one side of a comparison: columns of files, texts, numbers, dates. */
#ifndef SQL_SIDE_H
#define SQL_SIDE_H

#include "clause.h"
#include "module.h"
#include "sheet.h"

/* A query and the files that it names; borrowed. */
struct sides {
	const struct clause *clause;
	struct sheet *const *sheets;
	size_t count;
	module_find *find; /* returns a table's sheet; NULL where tables are not files */
	void *data;
	/*
	 * By the first token of its text: whether the file that a name before "." means is known,
	 * and that file.
	 */
	bool *known;
	const struct sheet **meant;
	/*
	 * For each token: the brackets within which its name is given to something else; 0 for
	 * none.
	 */
	size_t *made;
	size_t *budget; /* how many more names are followed */
};

/* The tokens from `begin` up to `end`, and what they are. */
struct side {
	size_t begin;
	size_t end;
	bool text; /* has a column of texts */
	/* has a column of numbers, or a CAST to one, beside which texts become numbers */
	bool numeric;
	bool boolean;     /* has a column of booleans */
	bool number;      /* has a number, beside which texts do not become numbers */
	bool truth;       /* has TRUE or FALSE */
	bool days;        /* has columns of dates without times */
	bool compact;     /* has 20260131 as a text */
	bool midnight;    /* the query has a date there with the time at which its day begins */
	bool mixed;       /* has columns of dates in several forms */
	bool wrong;       /* has a column of dates that do not sort, or are not ISO 8601 */
	unsigned moments; /* traits of its columns of dates (moment.h) */
	unsigned written; /* traits of the dates that the query has there as texts */
	int offset;       /* of the columns' dates, in minutes; 0 for none */
	int written_offset;
	/* Tokens; 0 for none. */
	size_t word; /* a text that is not a number */
	size_t call; /* a function that returns a text */
};

/* Sets the members below `data` for the clause. `budget` is borrowed. */
void side_begin(struct sides *sides, size_t *budget);
void side_end(struct sides *sides);

/* Fills the members from what is between `begin` and `end`. */
void side_look(const struct sides *sides, struct side *side);
/* Sets those `marks` (enum column_mark) of the side's columns that apply to each. */
void side_mark(const struct sides *sides, const struct side *side, unsigned marks);
/* Sets those `marks` that apply to the column. */
void side_mark_column(struct column *column, unsigned marks);
/* Adds all columns with that name to the side. */
void side_look_named(const struct sides *sides, const char *name, struct side *side);
/* Sets marks of all columns with that name. */
void side_mark_named(const struct sides *sides, const char *name, unsigned marks);
/*
 * Returns item number `index`, from 0, of the list of the SELECT at `at`; an empty side for none.
 */
struct side side_item(const struct sides *sides, size_t at, size_t index);
/* Returns the file whose name is at `at`; NULL for none. */
struct sheet *side_sheet(const struct sides *sides, size_t at);

#endif
