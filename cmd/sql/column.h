/* SPDX-License-Identifier: MIT */
/*
 * column.h - one column of a file: statistics of its values and, once a query needs them, the
 * values.
 *
 * Values are an array of one type. Texts are stored as codes, numbers of a dictionary. Equal texts
 * have one code until there are too many of them. All of it is SQLite's memory, so SQLite's limit
 * holds.
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
	COLUMN_TEXTS_SHARED = 1 << 17, /* different texts before equal ones may get two codes */
	COLUMN_SPREAD_MAX = 1 << 20,   /* maximum spread of integers that serve as ranks */
};

/* A query's use of a column that its type is not meant for. */
enum column_mark {
	COLUMN_NUMBERED = 1 << 0,  /* compares a text with a number */
	COLUMN_CONDITION = 1 << 1, /* uses a text as a condition */
	COLUMN_TRUE = 1 << 2,      /* compares a text with booleans */
	COLUMN_TEXTED = 1 << 3,    /* compares numbers or booleans with a text */
	COLUMN_ORDERED =
		1 << 4,         /* orders dates that do not sort as text, or calls date() on them */
	COLUMN_UNLIKE = 1 << 5, /* compares dates with one in another form */
	COLUMN_ADDED = 1 << 6,  /* calculates with texts that are not numbers */
	COLUMN_TIMED = 1 << 7,  /* compares dates that have times with one that has none */
	COLUMN_STACKED = 1 << 8, /* combines texts with numbers in one column, by UNION */
	/*
	 * passes numbers or texts to date functions, which read them as Julian days or as nothing
	 */
	COLUMN_DAYS = 1 << 11,
	COLUMN_BARE = 1 << 10,     /* uses the value of an arbitrary row, beside aggregates */
	COLUMN_SPELT = 1 << 9,     /* combines dates with columns that write them in another form */
	COLUMN_MIDNIGHT = 1 << 12, /* compares days with a moment at which a day begins */
	COLUMN_SORTED = 1 << 13,   /* orders texts of which many are numbers */
	COLUMN_CAST = 1 << 14,     /* converts texts to numbers, some of them to 0 */
	COLUMN_TRUTH = 1 << 15,    /* compares a text with true or false */
	COLUMN_CONVERTED = 1 << 16, /* converts texts to numbers, maybe not all of them */
};

struct column_texts {
	char *bytes;
	size_t len;
	size_t cap;
	uint64_t *ends; /* of text 1, 2, ...; code 0 is NULL */
	size_t count;
	size_t ends_cap;
	uint32_t *slots; /* by hash, while equal texts share a code */
	size_t slot_count;
};

struct column {
	char *name;
	enum infer_class heading; /* the class of its name in the first line */
	uint64_t counts[INFER_CLASSES];
	uint64_t absent; /* fields without a character and without quotes */
	struct infer_verdict verdict;
	/* Samples of values that are not numbers, and one with an exponent. "" for none. */
	char samples[COLUMN_SAMPLES][COLUMN_SAMPLE_MAX];
	char power[COLUMN_SAMPLE_MAX];
	char grouped[COLUMN_SAMPLE_MAX]; /* the first whose point may separate thousands */
	char undated[COLUMN_SAMPLE_MAX]; /* the first that is not a date */
	char timed[COLUMN_SAMPLE_MAX];   /* the first date with a time */
	bool days;                       /* some dates have no time */
	/* Values that do not begin with a number, which CAST converts to 0; the first of them. */
	uint64_t zeros;
	char zero[COLUMN_SAMPLE_MAX];
	bool zeros_differ;
	/*
	 * The first different units behind numbers, such as kg or M; "" for a number without a
	 * unit.
	 */
	char units[COLUMN_UNITS][COLUMN_UNIT_MAX];
	size_t unit_count;
	/*
	 * The traits of all its dates and times (moment.h), and the first value that does not sort,
	 * or not beside those before it.
	 */
	unsigned moments;
	char moment[COLUMN_SAMPLE_MAX];
	char other[COLUMN_SAMPLE_MAX]; /* the first that makes them ambiguous; "" for none */
	bool is_offset; /* `offset` is that of the first value with one, in minutes */
	int offset;
	bool named;     /* named, maybe, by the query that is being prepared */
	bool wanted;    /* needed by that query */
	bool paired;    /* compared with values that may not be text (pairs.h) */
	bool made;      /* the query may give the name to something else (pairs.h) */
	unsigned marks; /* of enum column_mark */
	bool loaded;
	size_t rows;
	int64_t *integers; /* also for booleans: 1 and 0 */
	double *reals;
	uint32_t *codes;
	uint64_t *nulls; /* of numbers: a bit for each row */
	int64_t low;     /* of the integers */
	int64_t high;
	struct column_texts texts;
};

/*
 * Returns a file's text for a sentence, with blanks and minus signs beyond ASCII as \uXXXX. The
 * caller frees it.
 */
char *column_shown(const char *text);

/* ---- statistics ---- */

void column_init(struct column *column, const char *name);
void column_release(struct column *column);
/* Counts one value of the file. With `commas`, 2,5 may be a number. */
void column_count(struct column *column, const struct csv_field *field, bool commas);

/* Sets the range of a loaded column of numbers. Returns false when it has no values. */
bool column_range(const struct column *column, double *ret_low, double *ret_high);
/* Returns how many of the file's values are not NULL. */
uint64_t column_present(const struct column *column);
/* Returns true for a text column of which most values are dates or times. */
bool column_is_dated(const struct column *column);

/* ---- values ---- */

/* Sets *err to ERR_LIMIT, as memory is exhausted. Always returns -1. */
int column_fail_memory(struct err *err);
/* Reserves memory for `rows` values. Returns -1 and sets *err to ERR_LIMIT. */
int column_reserve(struct column *column, size_t rows, struct err *err) MUST_CHECK;
/* Appends the value of the next row; `field` NULL is a missing one. Returns -1 and sets *err. */
int column_add(struct column *column, const struct csv_field *field, struct err *err) MUST_CHECK;
/* Ends adding: the values are complete. */
void column_finish(struct column *column);
/* Frees the values. */
void column_drop(struct column *column);

bool column_is_null(const struct column *column, size_t row);
/* Returns the text of a row that is not NULL, borrowed. */
const char *column_text(const struct column *column, size_t row, size_t *ret_len);
/*
 * Prefetches a row's value that is needed soon. Rows out of the file's order are far apart in
 * memory.
 */
void column_expect(const struct column *column, size_t row);
/* Passes the value to SQLite, borrowed. */
void column_result(const struct column *column, size_t row, sqlite3_context *context);
/* Compares two rows as SQLite orders them: NULL first, then by value or byte. */
int column_compare(const struct column *column, size_t a, size_t b);
/*
 * Computes ranks, small numbers that order the rows as column_compare does. Returns their count, or
 * 0 when there are none. The caller frees *ret_ranks with sqlite3_free.
 */
size_t column_ranks(const struct column *column, uint32_t **ret_ranks);
/* Returns the rank of a row by the result of column_ranks. */
uint32_t column_rank(const struct column *column, const uint32_t *ranks, size_t row);

#endif
