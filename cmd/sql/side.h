/* SPDX-License-Identifier: MIT */
/* side.h - what stands on one side of a comparison: columns of files, texts, numbers, dates. */
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
	module_find *find; /* a table's sheet; NULL where tables are no files */
	void *data;
	/* By the first token of its text: whether it is known which file a name before "." means,
	 * and which. */
	bool *known;
	const struct sheet **meant;
	/* Of each token: the brackets in which a name is made there of something else; 0 for none.
	 */
	size_t *made;
	size_t *budget; /* how many more names are followed */
};

/* The tokens from `begin` up to `end`. */
struct side {
	size_t begin;
	size_t end;
	bool text;    /* it has a column of texts */
	bool numeric; /* a column of numbers, or a CAST to one, beside which texts become numbers */
	bool boolean; /* a column of booleans */
	bool number;  /* a number, beside which they do not */
	bool truth;   /* TRUE or FALSE */
	bool days;    /* columns of dates without times */
	bool compact; /* 20260131 as a text */
	bool midnight;    /* the query has a date there with the time at which its day begins */
	bool mixed;       /* columns of dates that are written in several ways */
	bool wrong;       /* a column of dates that do not sort, or that are not ISO 8601 */
	unsigned moments; /* of its columns of dates (moment.h) */
	unsigned written; /* of the dates that the query has there as texts */
	int offset;       /* of the columns' dates, in minutes; 0 for none */
	int written_offset;
	/* Tokens; 0 for none. */
	size_t word; /* a text that is no number */
	size_t call; /* a function that gives a text */
};

/* Sets what the members below `data` are for the clause; `budget` is borrowed. */
void side_begin(struct sides *sides, size_t *budget);
void side_end(struct sides *sides);

/* Finds out what stands between `begin` and `end`. */
void side_look(const struct sides *sides, struct side *side);
/* Sets `marks` (enum column_mark) in those of its columns that they are meant for. */
void side_mark(const struct sides *sides, const struct side *side, unsigned marks);
/* Sets those of `marks` that are meant for the column. */
void side_mark_column(struct column *column, unsigned marks);
/* The same for all columns of that name. */
void side_look_named(const struct sides *sides, const char *name, struct side *side);
void side_mark_named(const struct sides *sides, const char *name, unsigned marks);
/* The select list's item number `index`, from 0, of the SELECT at `at`; an empty side for none. */
struct side side_item(const struct sides *sides, size_t at, size_t index);
/* The file whose name stands at `at`; NULL for none. */
struct sheet *side_sheet(const struct sides *sides, size_t at);

#endif
