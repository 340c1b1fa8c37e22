/* SPDX-License-Identifier: MIT */
/* program.h - SQLite's program for a query, as EXPLAIN lists it. */
#ifndef SQL_PROGRAM_H
#define SQL_PROGRAM_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	PROGRAM_CURSORS_MAX = 200,
	PROGRAM_COLUMNS_MAX = 100, /* of a cursor */
	PROGRAM_LENGTH_MAX = 5000,
	PROGRAM_ROOM_MAX = 4 << 20, /* instructions times registers */
};

/* What an instruction does, as far as it matters for the types of values. */
enum program_effect {
	EFFECT_UNKNOWN, /* it may set registers p2 and p3 */
	EFFECT_NOTHING,
	EFFECT_NULLS,    /* p2 up to p3 */
	EFFECT_NUMBER,   /* in p2 */
	EFFECT_TEXT,     /* in p2 */
	EFFECT_PARAM,    /* number p1 in p2 */
	EFFECT_SUM,      /* a number in p3 */
	EFFECT_JOINED,   /* a text in p3 */
	EFFECT_RECORD,   /* something else in p3 */
	EFFECT_ROW,      /* or in p2 */
	EFFECT_COPY,     /* p1 and those behind it to p2: p3 of them, and one more */
	EFFECT_MOVE,     /* the same, but p3 of them */
	EFFECT_COPY_ONE, /* p1 to p2 */
	EFFECT_CAST,     /* of p1, to the type p2 */
	EFFECT_CONVERT,  /* p2 registers from p1 on, to the types of p4 */
	EFFECT_COLUMN,   /* number p2 of cursor p1 in p3 */
	EFFECT_VCOLUMN,  /* the same of a file */
	EFFECT_CALL,     /* of p4 with the values from p2 on, in p3 */
	EFFECT_STEP,     /* of the aggregate p4 with the values from p2 on, in p3 */
	EFFECT_FINAL,    /* of the aggregate p4, in p1 */
	EFFECT_VALUE,    /* of the aggregate p4 in p1, in p3 */
	EFFECT_INSERT,   /* the record p2 into cursor p1 */
	EFFECT_COMPARE,  /* p3 with p1, as the type p5 */
	EFFECT_FIND,     /* the p4 values from p3 on in cursor p1 */
};

/* Where it goes on. */
enum program_flow {
	FLOW_NEXT,
	FLOW_BRANCH,    /* or at p2 */
	FLOW_GOTO,      /* at p2 */
	FLOW_THREE,     /* at p1, p2 or p3 */
	FLOW_CALL,      /* at p2; back behind it by FLOW_RETURN of the same p1 */
	FLOW_RETURN,    /* or at the next one */
	FLOW_COROUTINE, /* p1 begins at p3; at p2, or at the next one for 0 */
	FLOW_YIELD,     /* to the other side of p1; at p2 when that is over */
	FLOW_OVER,      /* p1 is over */
	FLOW_END,
};

struct instruction {
	char *name;
	int p1;
	int p2;
	int p3;
	char *p4;
	int p5;
	enum program_effect effect;
	enum program_flow flow;
};

struct program {
	struct instruction *list;
	size_t count;
	size_t registers; /* those that are set; 0 is none */
};

/* False: there is none, or it is too long; the program is empty then. */
bool program_read(struct program *program, sqlite3 *db, const char *text, size_t len);
void program_release(struct program *program);

typedef void program_visit(void *data, size_t to);
/* Calls for all places at which it may go on behind `at`. */
void program_follow(const struct program *program, size_t at, program_visit *visit, void *data);

/* The record that an insertion at `at` takes: the last MakeRecord before it; NULL for none. */
const struct instruction *program_record(const struct program *program, size_t at, size_t *ret_at);
/* The cursor whose rows this one reads: a copy of it, or one that its rows are put into. */
int program_source(const struct program *program, int cursor);
/* What set the register last before `at`, by the order of instructions; NULL for nothing. */
const struct instruction *program_origin(const struct program *program, size_t at, int reg);
/* Whether values or rows are taken out of it. */
bool program_reads(const struct program *program, int cursor);

#endif
