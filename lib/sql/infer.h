/* SPDX-License-Identifier: MIT */
/*
 * infer.h - infers the type of a column of texts, as analysts' tools do.
 *
 * Each value has a class; the counts of a column's classes decide its type.
 */
#ifndef SQL_INFER_H
#define SQL_INFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum infer_class {
	INFER_EMPTY,   /* only blanks */
	INFER_MISSING, /* NA, N/A, NaN, nan, NaT, NULL, null, None, #N/A, \N */
	INFER_INTEGER, /* of 64 bits */
	INFER_LONG,    /* of 64 bits, but no double holds it exactly */
	INFER_PLUS, /* +41791234567: at least eight digits behind a plus, as phone numbers have */
	INFER_HUGE, /* more than 64 bits, and a double holds it */
	INFER_REAL, /* with a point or an exponent */
	INFER_GROUPED,  /* 1.250: the point may separate thousands */
	INFER_POWER,    /* 1E5: digits with an exponent, which may be a code */
	INFER_COMMA,    /* 2,5 */
	INFER_INFINITE, /* inf, -Infinity */
	INFER_WIDE,     /* an integer of more than 64 bits that no double holds */
	INFER_PADDED,   /* 007 */
	INFER_DATE,     /* 2026-11-23, perhaps with a time */
	INFER_MOMENT,   /* 31.01.2020, 9:05: a date or a time of moment.h that is not in the form of
			   INFER_DATE */
	INFER_BOOLEAN,  /* true, False */
	INFER_MARKED,   /* $5, 12%, 1,000.50: a number for a reader but not for a database */
	INFER_MARKED_COMMA, /* the same with a decimal comma: 12,5%, 1.234,56 EUR */
	INFER_TEXT,
	INFER_CLASSES
};

enum infer_type { INFER_TYPE_TEXT, INFER_TYPE_INTEGER, INFER_TYPE_REAL, INFER_TYPE_BOOLEAN };

/* Why a column of numbers, or of booleans, is text. */
enum infer_reason {
	INFER_NO_REASON,
	INFER_FEW_TEXTS,  /* more than half of its values are numbers, but not all */
	INFER_MARKS,      /* more than half are INFER_MARKED, INFER_MARKED_COMMA or numbers */
	INFER_FEW_WORDS,  /* more than half are booleans, but not all */
	INFER_INEXACT,    /* integers beside fractions that no double holds */
	INFER_TOO_WIDE,   /* the values that are no numbers are INFER_WIDE */
	INFER_TWO_POINTS, /* 2,5 and 2.5 */
	INFER_THOUSANDS,  /* 1.250 in a file with decimal commas */
	INFER_FEW_DATES   /* more than half are dates, but not all */
};

struct infer_verdict {
	enum infer_type type;
	enum infer_reason reason;
	bool comma; /* REAL: a comma is the decimal point */
	/*
	 * Empty values and INFER_MISSING are NULL, and blanks around values are dropped: all other
	 * values are of one kind.
	 */
	bool missing;
};

/* Returns the class of a value. Blanks around it do not matter. */
enum infer_class infer_class(const char *s, size_t len);
/*
 * Returns the type of a column. `commas`: 2,5 may be a number, as in files separated by semicolons.
 */
struct infer_verdict infer_decide(const uint64_t counts[INFER_CLASSES], bool commas);
/*
 * Returns whether values of the column have a decimal comma, which is a hint for the file's other
 * columns.
 */
bool infer_has_commas(const uint64_t counts[INFER_CLASSES], struct infer_verdict verdict);
/* Returns whether all points in a column of numbers may separate thousands. */
bool infer_is_grouped(const uint64_t counts[INFER_CLASSES], struct infer_verdict verdict);
/* Turns the numbers into texts: 1.250 is 1.25, or 1250 where other columns have decimal commas. */
void infer_doubt(const uint64_t counts[INFER_CLASSES], struct infer_verdict *verdict);
/* Returns how many values are no numbers; missing ones do not count. */
uint64_t infer_others(const uint64_t counts[INFER_CLASSES], bool commas);
/* Returns whether a value of this class is a number. */
bool infer_is_number(enum infer_class class, bool commas);

/* Returns the value of a text whose class is INTEGER or LONG. */
int64_t infer_integer(const char *s, size_t len);
/* Returns the value of a text whose class is BOOLEAN: 1 for true, 0 for false. */
int64_t infer_boolean(const char *s, size_t len);
/* Returns the value of any number; `point` is '.' or ','. */
double infer_real(const char *s, size_t len, char point);

#endif
