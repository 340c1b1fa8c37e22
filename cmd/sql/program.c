/* SPDX-License-Identifier: MIT */
/*
 * program.c - a table of SQLite's instructions: what each does to registers, and where it
 * continues.
 *
 * Instructions are known by their names. One that a later SQLite adds is EFFECT_UNKNOWN, which
 * makes its registers hold anything. Subroutines and coroutines are followed to every place that
 * they can return to.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"

enum { COPIES_MAX = 10 };

static const struct {
	enum program_effect effect;
	enum program_flow flow;
	const char *names; /* a blank between two */
} known[] = {
	{ EFFECT_NOTHING, FLOW_BRANCH,
	  "Init If IfNot IsNull NotNull IsType IfPos IfNotZero IfNotOpen IfEmpty DecrJumpZero "
	  "MustBeInt ElseEq Once Rewind Last Next Prev Sort SorterSort SorterNext "
	  "SorterCompare VFilter VNext Filter IdxGT IdxGE IdxLT IdxLE NotExists SeekRowid "
	  "SeekScan RowSetTest SequenceTest IfSmaller IfSizeBetween" },
	{ EFFECT_NOTHING, FLOW_GOTO, "Goto" },
	{ EFFECT_NOTHING, FLOW_END, "Halt" },
	{ EFFECT_NOTHING, FLOW_CALL, "Gosub" },
	{ EFFECT_NOTHING, FLOW_RETURN, "Return" },
	{ EFFECT_NOTHING, FLOW_COROUTINE, "InitCoroutine" },
	{ EFFECT_NOTHING, FLOW_YIELD, "Yield" },
	{ EFFECT_NOTHING, FLOW_OVER, "EndCoroutine" },
	{ EFFECT_NOTHING, FLOW_THREE, "Jump" },
	{ EFFECT_SUM, FLOW_BRANCH, "IfNullRow RowSetRead" },
	{ EFFECT_FIND, FLOW_BRANCH, "SeekGE SeekGT SeekLE SeekLT Found NotFound NoConflict" },
	{ EFFECT_COMPARE, FLOW_BRANCH, "Eq Ne Lt Le Gt Ge" },
	{ EFFECT_NULLS, FLOW_NEXT, "Null BeginSubrtn" },
	{ EFFECT_NUMBER, FLOW_NEXT,
	  "Integer Int64 Real Not BitNot IsTrue ZeroOrNull OffsetLimit Rowid IdxRowid "
	  "Sequence NewRowid Count" },
	{ EFFECT_TEXT, FLOW_NEXT, "String8 String" },
	{ EFFECT_PARAM, FLOW_NEXT, "Variable" },
	{ EFFECT_SUM, FLOW_NEXT,
	  "Add Subtract Multiply Divide Remainder BitAnd BitOr ShiftLeft ShiftRight And Or" },
	{ EFFECT_JOINED, FLOW_NEXT, "Concat" },
	{ EFFECT_RECORD, FLOW_NEXT, "MakeRecord VInitIn" },
	{ EFFECT_ROW, FLOW_NEXT, "Blob RowData SorterData" },
	{ EFFECT_COPY, FLOW_NEXT, "Copy" },
	{ EFFECT_MOVE, FLOW_NEXT, "Move" },
	{ EFFECT_COPY_ONE, FLOW_NEXT, "SCopy" },
	{ EFFECT_CAST, FLOW_NEXT, "Cast" },
	{ EFFECT_CONVERT, FLOW_NEXT, "Affinity" },
	{ EFFECT_COLUMN, FLOW_NEXT, "Column" },
	{ EFFECT_VCOLUMN, FLOW_NEXT, "VColumn" },
	{ EFFECT_CALL, FLOW_NEXT, "Function PureFunc" },
	{ EFFECT_STEP, FLOW_NEXT, "AggStep AggStep1" },
	{ EFFECT_NOTHING, FLOW_NEXT,
	  "AggInverse CollSeq Compare Permutation FilterAdd ResultRow RealAffinity NullRow "
	  "DeferredSeek FinishSeek SeekHit SeekEnd Delete IdxDelete AddImm MemMax RowSetAdd "
	  "ReleaseReg OpenRead OpenEphemeral OpenAutoindex OpenDup OpenPseudo SorterOpen "
	  "ResetSorter VOpen Close Transaction Explain Noop" },
	{ EFFECT_FINAL, FLOW_NEXT, "AggFinal" },
	{ EFFECT_VALUE, FLOW_NEXT, "AggValue" },
	{ EFFECT_INSERT, FLOW_NEXT, "Insert IdxInsert SorterInsert" },
};

/* ---- registers ---- */

/* Returns the register that it sets, the first of several; 0 when unknown. */
static int target_of(const struct instruction *at)
{
	switch (at->effect) {
	case EFFECT_NUMBER:
	case EFFECT_TEXT:
	case EFFECT_PARAM:
	case EFFECT_COPY:
	case EFFECT_MOVE:
	case EFFECT_COPY_ONE:
		return at->p2;
	case EFFECT_SUM:
	case EFFECT_JOINED:
	case EFFECT_COLUMN:
	case EFFECT_VCOLUMN:
	case EFFECT_CALL:
	case EFFECT_VALUE:
		return at->p3;
	case EFFECT_FINAL:
		return at->p1;
	default:
		return 0;
	}
}

static size_t count_registers(const struct program *program)
{
	int last = 0;

	for (size_t i = 0; i < program->count; i++) {
		const struct instruction *at = &program->list[i];
		int several = at->effect == EFFECT_COPY || at->effect == EFFECT_MOVE ? at->p3 : 0;

		if (target_of(at) + several > last)
			last = target_of(at) + several;
	}
	return (size_t)last + 1;
}

/* ---- reading ---- */

static char *column_copy(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);

	return xstrdup(text != NULL ? (const char *)text : "");
}

static bool is_among(const char *name, const char *names)
{
	size_t len = strlen(name);

	for (const char *at = names; (at = strstr(at, name)) != NULL; at += len)
		if ((at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

static void add_instruction(struct program *program, sqlite3_stmt *statement)
{
	struct instruction next = { .name = column_copy(statement, 1),
				    .p1 = sqlite3_column_int(statement, 2),
				    .p2 = sqlite3_column_int(statement, 3),
				    .p3 = sqlite3_column_int(statement, 4),
				    .p4 = column_copy(statement, 5),
				    .p5 = sqlite3_column_int(statement, 6) };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (is_among(next.name, known[i].names)) {
			next.effect = known[i].effect;
			next.flow = known[i].flow;
		}
	program->list = xrealloc(program->list, (program->count + 1) * sizeof(*program->list));
	program->list[program->count++] = next;
}

bool program_read(struct program *program, sqlite3 *db, const char *text, size_t len)
{
	cleanup_free char *sql = xasprintf("EXPLAIN %.*s", (int)len, text);
	sqlite3_stmt *statement = NULL;

	*program = (struct program){ .count = 0 };
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return false;
	if (sqlite3_column_count(statement) >= 7)
		while (program->count <= PROGRAM_LENGTH_MAX &&
		       sqlite3_step(statement) == SQLITE_ROW)
			add_instruction(program, statement);
	(void)sqlite3_finalize(statement);
	program->registers = count_registers(program);
	if (program->count > 0 && program->count <= PROGRAM_LENGTH_MAX &&
	    program->registers <= PROGRAM_ROOM_MAX / program->count)
		return true;
	program_release(program);
	return false;
}

void program_release(struct program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		free(program->list[i].name);
		free(program->list[i].p4);
	}
	free(program->list);
	*program = (struct program){ .count = 0 };
}

/* ---- successors ---- */

static void visit_index(const struct program *program, int to, program_visit *visit, void *data)
{
	if (to >= 0 && (size_t)to < program->count)
		visit(data, (size_t)to);
}

/* Visits the places behind the calls of a subroutine. */
static void visit_returns(const struct program *program, int reg, program_visit *visit, void *data)
{
	for (size_t i = 0; i < program->count; i++)
		if (program->list[i].flow == FLOW_CALL && program->list[i].p1 == reg)
			visit_index(program, (int)i + 1, visit, data);
}

/* Visits the other side of a coroutine. */
static void visit_other_side(const struct program *program, int reg, bool over,
			     program_visit *visit, void *data)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct instruction *other = &program->list[i];

		if (other->p1 != reg)
			continue;
		if (other->flow == FLOW_YIELD)
			visit_index(program, over ? other->p2 : (int)i + 1, visit, data);
		else if (other->flow == FLOW_COROUTINE && !over)
			visit_index(program, other->p3, visit, data);
	}
}

void program_follow(const struct program *program, size_t at, program_visit *visit, void *data)
{
	const struct instruction *this = &program->list[at];

	switch (this->flow) {
	case FLOW_THREE:
		visit_index(program, this->p1, visit, data);
		visit_index(program, this->p3, visit, data);
		break;
	case FLOW_RETURN:
		visit_returns(program, this->p1, visit, data);
		break;
	case FLOW_YIELD:
	case FLOW_OVER:
		visit_other_side(program, this->p1, this->flow == FLOW_OVER, visit, data);
		break;
	default:
		break;
	}
	if (this->flow != FLOW_NEXT && this->flow != FLOW_RETURN && this->flow != FLOW_END &&
	    this->flow != FLOW_OVER && this->p2 > 0)
		visit_index(program, this->p2, visit, data);
	if (this->flow == FLOW_NEXT || this->flow == FLOW_BRANCH || this->flow == FLOW_RETURN ||
	    (this->flow == FLOW_COROUTINE && this->p2 == 0))
		visit_index(program, (int)at + 1, visit, data);
}

/* ---- records and origins ---- */

const struct instruction *program_record(const struct program *program, size_t at, size_t *ret_at)
{
	int reg = program->list[at].p2;

	for (size_t i = at; i-- > 0;)
		if (str_eq(program->list[i].name, "MakeRecord") && program->list[i].p3 == reg) {
			*ret_at = i;
			return &program->list[i];
		}
	return NULL;
}

static int source_of(const struct program *program, const struct instruction *open)
{
	if (str_eq(open->name, "OpenDup"))
		return open->p2;
	for (size_t i = 0; i < program->count; i++) {
		const struct instruction *data = &program->list[i];

		if (data->p2 == open->p2 &&
		    (str_eq(data->name, "SorterData") || str_eq(data->name, "RowData")))
			return data->p1;
	}
	return open->p1;
}

int program_source(const struct program *program, int cursor)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct instruction *open = &program->list[i];

		if (open->p1 == cursor &&
		    (str_eq(open->name, "OpenDup") || str_eq(open->name, "OpenPseudo")))
			return source_of(program, open);
	}
	return cursor;
}

/* Constant values are set at the program's end, so the search wraps around. */
static const struct instruction *setter(const struct program *program, size_t *at, int reg)
{
	for (size_t i = 1; i <= program->count; i++) {
		size_t before = (*at + program->count - i) % program->count;

		if (target_of(&program->list[before]) == reg) {
			*at = before;
			return &program->list[before];
		}
	}
	return NULL;
}

const struct instruction *program_origin(const struct program *program, size_t at, int reg)
{
	const struct instruction *found = setter(program, &at, reg);

	for (unsigned i = 0; found != NULL && i < COPIES_MAX; i++) {
		if (found->effect != EFFECT_COPY && found->effect != EFFECT_MOVE &&
		    found->effect != EFFECT_COPY_ONE)
			return found;
		found = setter(program, &at, found->p1);
	}
	return found;
}

bool program_reads(const struct program *program, int cursor)
{
	for (size_t i = 0; i < program->count; i++)
		if (program->list[i].p1 == cursor && (str_eq(program->list[i].name, "Column") ||
						      str_eq(program->list[i].name, "RowData")))
			return true;
	return false;
}
