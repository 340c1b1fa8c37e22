/* SPDX-License-Identifier: MIT */
/*
 * flow.h - computes the kinds of values that each register of SQLite's program may have.
 *
 * A data flow analysis over all paths of the program. Each column of a cursor has one set of kinds.
 * Unknown instructions may produce anything, so a finding holds for all rows.
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
	bool *reached;             /* whether an instruction is reachable */
	unsigned char *columns;    /* of each cursor */
	unsigned char *now;        /* the registers behind the current instruction */
	bool changed;
};

/* Analyzes the query. Returns false when that fails: flow_end must not be called then. */
bool flow_begin(struct flow *flow, sqlite3 *db, const struct query *query);
void flow_end(struct flow *flow);
/* Returns the kinds of a register before the instruction. */
unsigned flow_kinds(const struct flow *flow, size_t index, int reg);
/* Returns the kinds of a cursor's column. */
unsigned flow_column(const struct flow *flow, int cursor, int column);

#endif
