/* SPDX-License-Identifier: MIT */
/*
 * flow.c - follows kinds of values through a program. A fixed-point iteration: each reachable
 * instruction is applied to the kinds before it, and its result is merged into the places that may
 * follow, until nothing changes. Kinds only grow, so it ends; after ROUNDS_MAX rounds it gives up,
 * and then nothing is reported.
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "module.h"

enum { ROUNDS_MAX = 100, AFFINITY_TEXT = 'B' };

/* ---- registers and columns ---- */

static unsigned char get(const struct flow *flow, int reg)
{
	return reg > 0 && (size_t)reg < flow->program.registers ? flow->now[reg] : KIND_ANY;
}

static void set(struct flow *flow, int reg, unsigned kinds)
{
	if (reg > 0 && (size_t)reg < flow->program.registers)
		flow->now[reg] = (unsigned char)kinds;
}

/* Returns NULL for a column that is not followed. */
static unsigned char *column_of(const struct flow *flow, int cursor, int column)
{
	if (cursor < 0 || cursor >= PROGRAM_CURSORS_MAX || column < 0 ||
	    column >= PROGRAM_COLUMNS_MAX)
		return NULL;
	return &flow->columns[cursor * PROGRAM_COLUMNS_MAX + column];
}

unsigned flow_kinds(const struct flow *flow, size_t index, int reg)
{
	if (reg <= 0 || (size_t)reg >= flow->program.registers)
		return KIND_ANY;
	return flow->states[index * flow->program.registers + (size_t)reg];
}

unsigned flow_column(const struct flow *flow, int cursor, int column)
{
	const unsigned char *kinds =
		column_of(flow, program_source(&flow->program, cursor), column);

	return kinds != NULL ? *kinds : KIND_ANY;
}

/*
 * Returns the kinds after a conversion: a numeric type may turn a text into a number, TEXT turns
 * numbers into text.
 */
static unsigned converted(unsigned kinds, char affinity)
{
	if (affinity == AFFINITY_TEXT && (kinds & KIND_NUMBER))
		return (kinds & ~(unsigned)KIND_NUMBER) | KIND_TEXT;
	return affinity > AFFINITY_TEXT && (kinds & KIND_TEXT) ? kinds | KIND_NUMBER : kinds;
}

/* ---- effects of instructions ---- */

/* Returns true when p4, "max(1)", names one of them. */
static bool is_among(const char *call, const char *const *names)
{
	size_t len = strcspn(call, "(");

	for (; *names != NULL; names++)
		if (strlen(*names) == len && strncmp(*names, call, len) == 0)
			return true;
	return false;
}

/* Returns the kinds of a function's result; `given` are the kinds of its arguments. */
static unsigned call_kinds(const char *call, unsigned given)
{
	static const char *const numbers[] = { "count",
					       "sum",
					       "avg",
					       "total",
					       "length",
					       "abs",
					       "round",
					       "instr",
					       "unicode",
					       "unixepoch",
					       "julianday",
					       "ceil",
					       "floor",
					       "sign",
					       "row_number",
					       "rank",
					       "dense_rank",
					       "ntile",
					       "median",
					       "stddev",
					       "percentile",
					       "percentile_cont",
					       "percentile_disc",
					       NULL };
	static const char *const texts[] = { "substr",  "substring",    "strftime",   "date",
					     "time",    "datetime",     "upper",      "lower",
					     "replace", "printf",       "format",     "hex",
					     "char",    "group_concat", "string_agg", "typeof",
					     "trim",    "ltrim",        "rtrim",      NULL };
	static const char *const same[] = { "min", "max", "nullif", NULL };

	if (is_among(call, numbers))
		return KIND_NUMBER;
	if (is_among(call, texts))
		return KIND_TEXT;
	return is_among(call, same) ? given : KIND_ANY;
}

/*
 * Returns the kinds of a call's arguments. Their number is in the brackets of p4, unless it is -1
 * there.
 */
static unsigned given_kinds(const struct flow *flow, const struct instruction *at)
{
	const char *open = strchr(at->p4, '(');
	long count = open != NULL ? strtol(open + 1, NULL, 10) : 0;
	unsigned kinds = 0;

	if (count < 0 || count > PROGRAM_COLUMNS_MAX)
		return KIND_ANY;
	/* nullif(v, 0) is v. */
	if (strncmp(at->p4, "nullif", 6) == 0)
		count = 1;
	for (int i = 0; i < count; i++)
		kinds |= get(flow, at->p2 + i);
	return kinds;
}

static unsigned param_kinds(const struct flow *flow, int index)
{
	const json_t *value = json_array_get(flow->query->params, (size_t)index - 1);

	if (json_is_string(value))
		return KIND_TEXT;
	return json_is_number(value) || json_is_boolean(value) ? KIND_NUMBER : 0;
}

static void copy(struct flow *flow, const struct instruction *at, int count)
{
	for (int i = 0; i < count; i++)
		set(flow, at->p2 + i, get(flow, at->p1 + i));
}

static void convert(struct flow *flow, const struct instruction *at)
{
	for (int i = 0; i < at->p2 && at->p4[i] != '\0'; i++)
		set(flow, at->p1 + i, converted(get(flow, at->p1 + i), at->p4[i]));
}

static void cast(struct flow *flow, const struct instruction *at)
{
	unsigned kinds = at->p2 == AFFINITY_TEXT  ? KIND_TEXT
			 : at->p2 > AFFINITY_TEXT ? KIND_NUMBER
						  : KIND_ANY;

	set(flow, at->p1, get(flow, at->p1) == 0 ? 0 : kinds);
}

/* Merges the record's values into the columns of the cursor. */
static void insert(struct flow *flow, size_t index)
{
	const struct instruction *at = &flow->program.list[index];
	size_t made = 0;
	const struct instruction *record = program_record(&flow->program, index, &made);
	int count = record != NULL ? record->p2 : PROGRAM_COLUMNS_MAX;

	for (int i = 0; i < count; i++) {
		unsigned char *column = column_of(flow, at->p1, i);
		unsigned kinds = flow_kinds(flow, made, record != NULL ? record->p1 + i : 0);

		if (record != NULL && strlen(record->p4) == (size_t)count)
			kinds = converted(kinds, record->p4[i]);
		if (column == NULL || (*column | kinds) == *column)
			continue;
		*column |= (unsigned char)kinds;
		flow->changed = true;
	}
}

static void apply_call(struct flow *flow, const struct instruction *at)
{
	switch (at->effect) {
	case EFFECT_CALL:
		set(flow, at->p3, call_kinds(at->p4, given_kinds(flow, at)));
		break;
	case EFFECT_STEP:
		set(flow, at->p3, get(flow, at->p3) | given_kinds(flow, at));
		break;
	case EFFECT_FINAL:
		set(flow, at->p1, call_kinds(at->p4, get(flow, at->p1)));
		break;
	default:
		set(flow, at->p3, call_kinds(at->p4, get(flow, at->p1)));
		break;
	}
}

static void apply_copy(struct flow *flow, const struct instruction *at)
{
	switch (at->effect) {
	case EFFECT_COPY:
		copy(flow, at, at->p3 + 1);
		break;
	case EFFECT_MOVE:
		copy(flow, at, at->p3);
		break;
	case EFFECT_COPY_ONE:
		copy(flow, at, 1);
		break;
	case EFFECT_CONVERT:
		convert(flow, at);
		break;
	default:
		cast(flow, at);
		break;
	}
}

static void apply(struct flow *flow, size_t index)
{
	const struct instruction *at = &flow->program.list[index];

	switch (at->effect) {
	case EFFECT_NULLS:
		for (int i = at->p2; i <= at->p2 || i <= at->p3; i++)
			set(flow, i, 0);
		break;
	case EFFECT_NUMBER:
		set(flow, at->p2, KIND_NUMBER);
		break;
	case EFFECT_TEXT:
		set(flow, at->p2, KIND_TEXT);
		break;
	case EFFECT_PARAM:
		set(flow, at->p2, param_kinds(flow, at->p1));
		break;
	case EFFECT_SUM:
		set(flow, at->p3, KIND_NUMBER);
		break;
	case EFFECT_JOINED:
		set(flow, at->p3, KIND_TEXT);
		break;
	case EFFECT_RECORD:
		set(flow, at->p3, KIND_ANY);
		break;
	case EFFECT_ROW:
		set(flow, at->p2, KIND_ANY);
		break;
	case EFFECT_COLUMN:
	case EFFECT_VCOLUMN:
		set(flow, at->p3, flow_column(flow, at->p1, at->p2));
		break;
	case EFFECT_INSERT:
		insert(flow, index);
		break;
	case EFFECT_CALL:
	case EFFECT_STEP:
	case EFFECT_FINAL:
	case EFFECT_VALUE:
		apply_call(flow, at);
		break;
	case EFFECT_UNKNOWN:
		set(flow, at->p2, KIND_ANY);
		set(flow, at->p3, KIND_ANY);
		break;
	case EFFECT_NOTHING:
	case EFFECT_COMPARE:
	case EFFECT_FIND:
		break;
	default:
		apply_copy(flow, at);
		break;
	}
}

/* ---- all paths through the program ---- */

/* Merges the current registers into those before `to`; a program_visit. */
static void arrive(void *data, size_t to)
{
	struct flow *flow = data;
	unsigned char *state = &flow->states[to * flow->program.registers];

	if (!flow->reached[to])
		flow->reached[to] = flow->changed = true;
	for (size_t i = 0; i < flow->program.registers; i++) {
		if ((state[i] | flow->now[i]) == state[i])
			continue;
		state[i] |= flow->now[i];
		flow->changed = true;
	}
}

static void load(struct flow *flow, size_t index)
{
	memcpy(flow->now, &flow->states[index * flow->program.registers], flow->program.registers);
}

/* Sets the kinds of files and tables, which exist before the program begins. */
static void fill_columns(struct flow *flow)
{
	for (size_t i = 0; i < flow->program.count; i++) {
		const struct instruction *at = &flow->program.list[i];
		const struct sheet *sheet = module_opened(at->p4);

		if (!str_eq(at->name, "VOpen") && !str_eq(at->name, "OpenRead") &&
		    !str_eq(at->name, "ReopenIdx"))
			continue;
		for (size_t c = 0; c < PROGRAM_COLUMNS_MAX; c++) {
			unsigned char *column = column_of(flow, at->p1, (int)c);

			if (column == NULL)
				break;
			if (sheet == NULL)
				*column = KIND_ANY;
			else if (c < sheet->count)
				*column |= sheet->columns[c].verdict.type == INFER_TYPE_TEXT
						   ? KIND_TEXT
						   : KIND_NUMBER;
		}
	}
}

/* Returns false when the iteration did not end. */
static bool follow(struct flow *flow)
{
	fill_columns(flow);
	flow->reached[0] = flow->changed = true;
	for (unsigned round = 0; flow->changed && round < ROUNDS_MAX; round++) {
		flow->changed = false;
		for (size_t i = 0; i < flow->program.count; i++) {
			if (!flow->reached[i])
				continue;
			load(flow, i);
			apply(flow, i);
			program_follow(&flow->program, i, arrive, flow);
		}
	}
	return !flow->changed;
}

bool flow_begin(struct flow *flow, sqlite3 *db, const struct query *query)
{
	*flow = (struct flow){ .query = query };
	if (!program_read(&flow->program, db, query->text, query->len))
		return false;
	flow->states = xcalloc(flow->program.count, flow->program.registers);
	flow->reached = xcalloc(flow->program.count, sizeof(*flow->reached));
	flow->columns = xcalloc(PROGRAM_CURSORS_MAX, PROGRAM_COLUMNS_MAX);
	flow->now = xcalloc(flow->program.registers, 1);
	if (follow(flow))
		return true;
	flow_end(flow);
	return false;
}

void flow_end(struct flow *flow)
{
	free(flow->states);
	free(flow->reached);
	free(flow->columns);
	free(flow->now);
	program_release(&flow->program);
}
