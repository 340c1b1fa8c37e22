/* SPDX-License-Identifier: MIT */
/*
 * infer.h - what the values of a column of texts are, as analysts' tools read them.
 *
 * Each value has a class; the counts of a column's classes decide its type.
 */
#ifndef SQL_INFER_H
#define SQL_INFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum infer_class {
	INFER_EMPTY,   /* nothing but blanks */
	INFER_MISSING, /* NA, N/A, NaN, nan, NaT, NULL, null, None, #N/A, \N */
	INFER_INTEGER, /* of 64 bits */
	INFER_LONG,    /* the same, but no double holds it */
	INFER_PLUS, /* +41791234567: at least eight digits behind a plus, as phone numbers have */
	INFER_HUGE, /* more than 64 bits, and a double holds it */
	INFER_REAL, /* with a point or an exponent */
	INFER_GROUPED,      /* 1.250: the point may separate thousands */
	INFER_POWER,        /* 1E5: digits with an exponent, which may be a code */
	INFER_COMMA,        /* 2,5 */
	INFER_INFINITE,     /* inf, -Infinity */
	INFER_WIDE,         /* an integer of more than 64 bits that no double holds */
	INFER_PADDED,       /* 007 */
	INFER_DATE,         /* 2026-11-23, a time may follow */
	INFER_MOMENT,       /* 31.01.2020, 9:05: a date or a time as moment.h has them, not like the
			       former */
	INFER_BOOLEAN,      /* true, False */
	INFER_MARKED,       /* $5, 12%, 1,000.50: a number for a reader, and none for a database */
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
	INFER_TOO_WIDE,   /* what is no number is INFER_WIDE */
	INFER_TWO_POINTS, /* 2,5 and 2.5 */
	INFER_THOUSANDS,  /* 1.250 in a file with decimal commas */
	INFER_FEW_DATES   /* more than half are dates, but not all */
};

struct infer_verdict {
	enum infer_type type;
	enum infer_reason reason;
	bool comma; /* REAL: a comma is the decimal point */
	/* Empty values and INFER_MISSING are NULL, and blanks around the others no part of them:
	 * all values are of one kind. */
	bool missing;
};

/* Takes the blanks off both ends. */
void infer_trim(const char **s, size_t *len);
/* Blanks around a value do not matter. */
enum infer_class infer_class(const char *s, size_t len);
/* `commas`: 2,5 may be a number, as in files whose separator is a semicolon. */
struct infer_verdict infer_decide(const uint64_t counts[INFER_CLASSES], bool commas);
/* Whether values of the column have a comma for a point, for what the file's other columns mean. */
bool infer_has_commas(const uint64_t counts[INFER_CLASSES], struct infer_verdict verdict);
/* Whether all points in a column of numbers may separate thousands. */
bool infer_is_grouped(const uint64_t counts[INFER_CLASSES], struct infer_verdict verdict);
/* 1.250 is 1.25, or 1250 where other columns have decimal commas: the numbers become texts. */
void infer_doubt(const uint64_t counts[INFER_CLASSES], struct infer_verdict *verdict);
/* How many of the values are no numbers; missing ones do not count. */
uint64_t infer_others(const uint64_t counts[INFER_CLASSES], bool commas);
/* Whether a value of this class is a number. */
bool infer_is_number(enum infer_class class, bool commas);

/* The value of a text whose class is INTEGER or LONG. */
int64_t infer_integer(const char *s, size_t len);
/* The value of a text whose class is BOOLEAN: 1 for true, 0 for false. */
int64_t infer_boolean(const char *s, size_t len);
/* The value of any number; `point` is '.' or ','. */
double infer_real(const char *s, size_t len, char point);

#endif
