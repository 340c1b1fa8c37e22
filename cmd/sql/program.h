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

/* The effect of an instruction, as far as it matters for the types of values. */
enum program_effect {
	EFFECT_UNKNOWN, /* may set registers p2 and p3 */
	EFFECT_NOTHING,
	EFFECT_NULLS,    /* NULL in p2 up to p3 */
	EFFECT_NUMBER,   /* a number in p2 */
	EFFECT_TEXT,     /* a text in p2 */
	EFFECT_PARAM,    /* parameter p1 in p2 */
	EFFECT_SUM,      /* a number in p3 */
	EFFECT_JOINED,   /* a text in p3 */
	EFFECT_RECORD,   /* another value in p3 */
	EFFECT_ROW,      /* another value in p2 */
	EFFECT_COPY,     /* copies p3 + 1 registers from p1 on to p2 */
	EFFECT_MOVE,     /* copies p3 registers from p1 on to p2 */
	EFFECT_COPY_ONE, /* copies p1 to p2 */
	EFFECT_CAST,     /* casts p1 to the type p2 */
	EFFECT_CONVERT,  /* converts p2 registers from p1 on to the types of p4 */
	EFFECT_COLUMN,   /* column p2 of cursor p1 in p3 */
	EFFECT_VCOLUMN,  /* the same of a file's table */
	EFFECT_CALL,     /* result in p3 of function p4 on the values from p2 on */
	EFFECT_STEP,     /* step in p3 of aggregate p4 with the values from p2 on */
	EFFECT_FINAL,    /* result in p1 of aggregate p4 */
	EFFECT_VALUE,    /* value in p3 of aggregate p4 in p1 */
	EFFECT_INSERT,   /* inserts record p2 into cursor p1 */
	EFFECT_COMPARE,  /* compares p3 with p1, as type p5 */
	EFFECT_FIND,     /* searches cursor p1 for the p4 values from p3 on */
};

/* Where the program continues. */
enum program_flow {
	FLOW_NEXT,
	FLOW_BRANCH,    /* next, or at p2 */
	FLOW_GOTO,      /* at p2 */
	FLOW_THREE,     /* at p1, p2 or p3 */
	FLOW_CALL,      /* at p2; FLOW_RETURN of the same p1 comes back behind it */
	FLOW_RETURN,    /* behind a call, or next */
	FLOW_COROUTINE, /* coroutine p1 begins at p3; continues at p2, or next for 0 */
	FLOW_YIELD,     /* at the other side of p1; at p2 when that has ended */
	FLOW_OVER,      /* coroutine p1 has ended */
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

/* Reads the program. Returns false, with an empty program, when there is none or it is too long. */
bool program_read(struct program *program, sqlite3 *db, const char *text, size_t len);
void program_release(struct program *program);

typedef void program_visit(void *data, size_t to);
/* Calls `visit` for each place at which the program may continue behind `at`. */
void program_follow(const struct program *program, size_t at, program_visit *visit, void *data);

/*
 * Returns the record that the insertion at `at` takes: the last MakeRecord before it; NULL for
 * none.
 */
const struct instruction *program_record(const struct program *program, size_t at, size_t *ret_at);
/* Returns the cursor whose rows this one reads, as a copy of it or as the target of its rows. */
int program_source(const struct program *program, int cursor);
/*
 * Returns the instruction that set the register last before `at`, in program order; NULL for none.
 */
const struct instruction *program_origin(const struct program *program, size_t at, int reg);
/* Returns true when values or rows are read from the cursor. */
bool program_reads(const struct program *program, int cursor);

#endif
