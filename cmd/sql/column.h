/* SPDX-License-Identifier: MIT */
/*
 * column.h - one column of a file: what its values are, and, once a query needs them, the values.
 *
 * Values are an array of one type. Texts are numbers of a dictionary, in which equal ones are one
 * until there are too many. All of it is SQLite's memory, so SQLite's limit holds for it.
 */
#ifndef SQL_COLUMN_H
#define SQL_COLUMN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sql/csv.h"
#include "sql/infer.h"

enum {
	COLUMN_SAMPLES = 2,
	COLUMN_SAMPLE_MAX = 64,
	COLUMN_UNITS = 2,
	COLUMN_UNIT_MAX = 16,
	COLUMN_TEXTS_SHARED = 1 << 17, /* different texts until equal ones are no longer one */
	COLUMN_SPREAD_MAX = 1 << 20,   /* integers between the least and the most to be codes */
};

/* What a query does with a column whose type is not meant for that. */
enum column_mark {
	COLUMN_NUMBERED = 1 << 0,  /* compares a text with a number */
	COLUMN_CONDITION = 1 << 1, /* takes a text for a condition */
	COLUMN_TRUE = 1 << 2,      /* compares a text with booleans */
	COLUMN_TEXTED = 1 << 3,    /* compares numbers or booleans with a text */
	COLUMN_ORDERED =
		1 << 4,         /* orders dates that do not sort as text, or calls date() of them */
	COLUMN_UNLIKE = 1 << 5, /* compares dates with one that is written otherwise */
	COLUMN_ADDED = 1 << 6,  /* calculates with texts that are no numbers */
	COLUMN_TIMED = 1 << 7,  /* compares dates that have times with one that has none */
	COLUMN_STACKED = 1 << 8, /* puts texts into one column with numbers, by UNION */
	COLUMN_DAYS = 1 << 11, /* gives numbers or texts to functions of dates, which take them for
				  Julian days or for nothing */
	COLUMN_BARE = 1 << 10, /* takes the value of an arbitrary row, beside aggregates */
	COLUMN_SPELT = 1 << 9, /* brings dates together with columns that write them otherwise */
	COLUMN_MIDNIGHT = 1 << 12,  /* compares days with a moment at which one begins */
	COLUMN_SORTED = 1 << 13,    /* orders texts of which many are numbers */
	COLUMN_CAST = 1 << 14,      /* makes numbers of texts, of some of them 0 */
	COLUMN_TRUTH = 1 << 15,     /* compares a text with true or false */
	COLUMN_CONVERTED = 1 << 16, /* makes numbers of texts, perhaps not of all of them */
};

struct column_texts {
	char *bytes;
	size_t len;
	size_t cap;
	uint64_t *ends; /* of text 1, 2, ...; 0 is NULL */
	size_t count;
	size_t ends_cap;
	uint32_t *slots; /* by hash, while equal texts are one */
	size_t slot_count;
};

struct column {
	char *name;
	enum infer_class heading; /* what the first line has for its name */
	uint64_t counts[INFER_CLASSES];
	uint64_t absent; /* fields without a character or quotes */
	struct infer_verdict verdict;
	/* Values that are no numbers; one with an exponent only. "" for none. */
	char samples[COLUMN_SAMPLES][COLUMN_SAMPLE_MAX];
	char power[COLUMN_SAMPLE_MAX];
	char grouped[COLUMN_SAMPLE_MAX]; /* the first whose point may separate thousands */
	char undated[COLUMN_SAMPLE_MAX]; /* the first that is no date */
	char timed[COLUMN_SAMPLE_MAX];   /* the first date with a time */
	bool days;                       /* some dates have none */
	/* Values that begin with no number, of which CAST makes 0; the first of them. */
	uint64_t zeros;
	char zero[COLUMN_SAMPLE_MAX];
	bool zeros_differ;
	/* The first different ones behind numbers, as kg or M, "" for none behind one. */
	char units[COLUMN_UNITS][COLUMN_UNIT_MAX];
	size_t unit_count;
	/* Of its dates and times, all together (moment.h); the first that does not sort, or does
	 * not beside those before it. */
	unsigned moments;
	char moment[COLUMN_SAMPLE_MAX];
	char other[COLUMN_SAMPLE_MAX]; /* the first that makes them ambiguous; "" for none */
	bool is_offset; /* `offset` is that of the first of them that has one, in minutes */
	int offset;
	bool named;     /* or perhaps, by the query that is being prepared */
	bool wanted;    /* by it */
	bool paired;    /* with what may be no text (pairs.h) */
	bool made;      /* the query may call something else so (pairs.h) */
	unsigned marks; /* of enum column_mark */
	bool loaded;
	size_t rows;
	int64_t *integers; /* booleans, too: 1 and 0 */
	double *reals;
	uint32_t *codes;
	uint64_t *nulls; /* a bit a row, of numbers */
	int64_t low;     /* of the integers */
	int64_t high;
	struct column_texts texts;
};

/* A file's text for a sentence, in which a blank or minus that is no ASCII is \uXXXX; the caller
 * frees it. */
char *column_shown(const char *text);

/* ---- what its values are ---- */

void column_init(struct column *column, const char *name);
void column_release(struct column *column);
/* One value of the file. `commas`: 2,5 may be a number. */
void column_count(struct column *column, const struct csv_field *field, bool commas);

/* Of the values of a column of numbers that is loaded; false: there are none. */
bool column_range(const struct column *column, double *ret_low, double *ret_high);
/* How many of the file's values are not NULL. */
uint64_t column_present(const struct column *column);
/* Whether most of its values are dates or times, and it is text. */
bool column_is_dated(const struct column *column);

/* ---- its values ---- */

/* Says that memory lacks: ERR_LIMIT. */
int column_fail_memory(struct err *err);
/* Room for `rows` values. ERR_LIMIT. */
int column_reserve(struct column *column, size_t rows, struct err *err) MUST_CHECK;
/* The value of the next row; `field` NULL is a missing one. */
int column_add(struct column *column, const struct csv_field *field, struct err *err) MUST_CHECK;
/* Nothing more is added. */
void column_finish(struct column *column);
/* Gives the values' memory back. */
void column_drop(struct column *column);

bool column_is_null(const struct column *column, size_t row);
/* The text of a row that is not NULL. */
const char *column_text(const struct column *column, size_t row, size_t *ret_len);
/* The row's value will be wanted soon: rows that are not in the file's order are far apart. */
void column_expect(const struct column *column, size_t row);
/* Gives the value to SQLite, borrowed. */
void column_result(const struct column *column, size_t row, sqlite3_context *context);
/* As SQLite orders them: NULL first, then by value or byte. */
int column_compare(const struct column *column, size_t a, size_t b);
/*
 * Small numbers that order the rows as column_compare does; how many, 0 when there are none. The
 * caller frees *ret_ranks with sqlite3_free.
 */
size_t column_ranks(const struct column *column, uint32_t **ret_ranks);
/* The rank of a row by the ranks of column_ranks. */
uint32_t column_rank(const struct column *column, const uint32_t *ranks, size_t row);

#endif
