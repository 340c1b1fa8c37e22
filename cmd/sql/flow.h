/* SPDX-License-Identifier: MIT */
/*
 * flow.h - the kinds of values that each register of SQLite's program may have.
 *
 * They are followed through the program, along all ways that it may take; what comes into a cursor
 * is one set of kinds for each of its columns. All that is not known may be anything, so what is
 * told holds for all rows.
 */
#ifndef SQL_FLOW_H
#define SQL_FLOW_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "program.h"
#include "query.h"

/* Kinds of values that are not NULL. */
enum { KIND_NUMBER = 1, KIND_TEXT = 2, KIND_ANY = 7 };

struct flow {
	struct program program;
	const struct query *query; /* borrowed */
	unsigned char *states;     /* the registers before each instruction */
	bool *reached;             /* which instructions are */
	unsigned char *columns;    /* of each cursor */
	unsigned char *now;        /* behind the instruction that is looked at */
	bool changed;
};

/* False: it is not known; nothing is to be ended then. */
bool flow_begin(struct flow *flow, sqlite3 *db, const struct query *query);
void flow_end(struct flow *flow);
/* Of a register before the instruction. */
unsigned flow_kinds(const struct flow *flow, size_t index, int reg);
/* Of a cursor's column. */
unsigned flow_column(const struct flow *flow, int cursor, int column);

#endif
