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
	const char *name;
	enum program_effect effect;
	enum program_flow flow;
} known[] = {
	{ "Init", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Goto", EFFECT_NOTHING, FLOW_GOTO },
	{ "Halt", EFFECT_NOTHING, FLOW_END },
	{ "Gosub", EFFECT_NOTHING, FLOW_CALL },
	{ "Return", EFFECT_NOTHING, FLOW_RETURN },
	{ "InitCoroutine", EFFECT_NOTHING, FLOW_COROUTINE },
	{ "Yield", EFFECT_NOTHING, FLOW_YIELD },
	{ "EndCoroutine", EFFECT_NOTHING, FLOW_OVER },
	{ "Jump", EFFECT_NOTHING, FLOW_THREE },
	{ "If", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfNot", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IsNull", EFFECT_NOTHING, FLOW_BRANCH },
	{ "NotNull", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IsType", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfNullRow", EFFECT_SUM, FLOW_BRANCH },
	{ "IfPos", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfNotZero", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfNotOpen", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfEmpty", EFFECT_NOTHING, FLOW_BRANCH },
	{ "DecrJumpZero", EFFECT_NOTHING, FLOW_BRANCH },
	{ "MustBeInt", EFFECT_NOTHING, FLOW_BRANCH },
	{ "ElseEq", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Once", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Rewind", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Last", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Next", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Prev", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Sort", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SorterSort", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SorterNext", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SorterCompare", EFFECT_NOTHING, FLOW_BRANCH },
	{ "VFilter", EFFECT_NOTHING, FLOW_BRANCH },
	{ "VNext", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Filter", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IdxGT", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IdxGE", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IdxLT", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IdxLE", EFFECT_NOTHING, FLOW_BRANCH },
	{ "NotExists", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SeekRowid", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SeekScan", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SeekGE", EFFECT_FIND, FLOW_BRANCH },
	{ "SeekGT", EFFECT_FIND, FLOW_BRANCH },
	{ "SeekLE", EFFECT_FIND, FLOW_BRANCH },
	{ "SeekLT", EFFECT_FIND, FLOW_BRANCH },
	{ "Found", EFFECT_FIND, FLOW_BRANCH },
	{ "NotFound", EFFECT_FIND, FLOW_BRANCH },
	{ "NoConflict", EFFECT_FIND, FLOW_BRANCH },
	{ "Eq", EFFECT_COMPARE, FLOW_BRANCH },
	{ "Ne", EFFECT_COMPARE, FLOW_BRANCH },
	{ "Lt", EFFECT_COMPARE, FLOW_BRANCH },
	{ "Le", EFFECT_COMPARE, FLOW_BRANCH },
	{ "Gt", EFFECT_COMPARE, FLOW_BRANCH },
	{ "Ge", EFFECT_COMPARE, FLOW_BRANCH },
	{ "RowSetRead", EFFECT_SUM, FLOW_BRANCH },
	{ "RowSetTest", EFFECT_NOTHING, FLOW_BRANCH },
	{ "SequenceTest", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfSmaller", EFFECT_NOTHING, FLOW_BRANCH },
	{ "IfSizeBetween", EFFECT_NOTHING, FLOW_BRANCH },
	{ "Null", EFFECT_NULLS, FLOW_NEXT },
	{ "BeginSubrtn", EFFECT_NULLS, FLOW_NEXT },
	{ "Integer", EFFECT_NUMBER, FLOW_NEXT },
	{ "Int64", EFFECT_NUMBER, FLOW_NEXT },
	{ "Real", EFFECT_NUMBER, FLOW_NEXT },
	{ "Not", EFFECT_NUMBER, FLOW_NEXT },
	{ "BitNot", EFFECT_NUMBER, FLOW_NEXT },
	{ "IsTrue", EFFECT_NUMBER, FLOW_NEXT },
	{ "ZeroOrNull", EFFECT_NUMBER, FLOW_NEXT },
	{ "OffsetLimit", EFFECT_NUMBER, FLOW_NEXT },
	{ "Rowid", EFFECT_NUMBER, FLOW_NEXT },
	{ "IdxRowid", EFFECT_NUMBER, FLOW_NEXT },
	{ "Sequence", EFFECT_NUMBER, FLOW_NEXT },
	{ "NewRowid", EFFECT_NUMBER, FLOW_NEXT },
	{ "Count", EFFECT_NUMBER, FLOW_NEXT },
	{ "String8", EFFECT_TEXT, FLOW_NEXT },
	{ "String", EFFECT_TEXT, FLOW_NEXT },
	{ "Variable", EFFECT_PARAM, FLOW_NEXT },
	{ "Add", EFFECT_SUM, FLOW_NEXT },
	{ "Subtract", EFFECT_SUM, FLOW_NEXT },
	{ "Multiply", EFFECT_SUM, FLOW_NEXT },
	{ "Divide", EFFECT_SUM, FLOW_NEXT },
	{ "Remainder", EFFECT_SUM, FLOW_NEXT },
	{ "BitAnd", EFFECT_SUM, FLOW_NEXT },
	{ "BitOr", EFFECT_SUM, FLOW_NEXT },
	{ "ShiftLeft", EFFECT_SUM, FLOW_NEXT },
	{ "ShiftRight", EFFECT_SUM, FLOW_NEXT },
	{ "And", EFFECT_SUM, FLOW_NEXT },
	{ "Or", EFFECT_SUM, FLOW_NEXT },
	{ "Concat", EFFECT_JOINED, FLOW_NEXT },
	{ "MakeRecord", EFFECT_RECORD, FLOW_NEXT },
	{ "Blob", EFFECT_ROW, FLOW_NEXT },
	{ "RowData", EFFECT_ROW, FLOW_NEXT },
	{ "SorterData", EFFECT_ROW, FLOW_NEXT },
	{ "Copy", EFFECT_COPY, FLOW_NEXT },
	{ "Move", EFFECT_MOVE, FLOW_NEXT },
	{ "SCopy", EFFECT_COPY_ONE, FLOW_NEXT },
	{ "Cast", EFFECT_CAST, FLOW_NEXT },
	{ "Affinity", EFFECT_CONVERT, FLOW_NEXT },
	{ "Column", EFFECT_COLUMN, FLOW_NEXT },
	{ "VColumn", EFFECT_VCOLUMN, FLOW_NEXT },
	{ "Function", EFFECT_CALL, FLOW_NEXT },
	{ "PureFunc", EFFECT_CALL, FLOW_NEXT },
	{ "AggStep", EFFECT_STEP, FLOW_NEXT },
	{ "AggStep1", EFFECT_STEP, FLOW_NEXT },
	{ "AggInverse", EFFECT_NOTHING, FLOW_NEXT },
	{ "AggFinal", EFFECT_FINAL, FLOW_NEXT },
	{ "AggValue", EFFECT_VALUE, FLOW_NEXT },
	{ "Insert", EFFECT_INSERT, FLOW_NEXT },
	{ "IdxInsert", EFFECT_INSERT, FLOW_NEXT },
	{ "SorterInsert", EFFECT_INSERT, FLOW_NEXT },
	{ "CollSeq", EFFECT_NOTHING, FLOW_NEXT },
	{ "Compare", EFFECT_NOTHING, FLOW_NEXT },
	{ "Permutation", EFFECT_NOTHING, FLOW_NEXT },
	{ "FilterAdd", EFFECT_NOTHING, FLOW_NEXT },
	{ "ResultRow", EFFECT_NOTHING, FLOW_NEXT },
	{ "RealAffinity", EFFECT_NOTHING, FLOW_NEXT },
	{ "NullRow", EFFECT_NOTHING, FLOW_NEXT },
	{ "DeferredSeek", EFFECT_NOTHING, FLOW_NEXT },
	{ "FinishSeek", EFFECT_NOTHING, FLOW_NEXT },
	{ "SeekHit", EFFECT_NOTHING, FLOW_NEXT },
	{ "SeekEnd", EFFECT_NOTHING, FLOW_NEXT },
	{ "Delete", EFFECT_NOTHING, FLOW_NEXT },
	{ "IdxDelete", EFFECT_NOTHING, FLOW_NEXT },
	{ "AddImm", EFFECT_NOTHING, FLOW_NEXT },
	{ "MemMax", EFFECT_NOTHING, FLOW_NEXT },
	{ "RowSetAdd", EFFECT_NOTHING, FLOW_NEXT },
	{ "VInitIn", EFFECT_RECORD, FLOW_NEXT },
	{ "ReleaseReg", EFFECT_NOTHING, FLOW_NEXT },
	{ "OpenRead", EFFECT_NOTHING, FLOW_NEXT },
	{ "OpenEphemeral", EFFECT_NOTHING, FLOW_NEXT },
	{ "OpenAutoindex", EFFECT_NOTHING, FLOW_NEXT },
	{ "OpenDup", EFFECT_NOTHING, FLOW_NEXT },
	{ "OpenPseudo", EFFECT_NOTHING, FLOW_NEXT },
	{ "SorterOpen", EFFECT_NOTHING, FLOW_NEXT },
	{ "ResetSorter", EFFECT_NOTHING, FLOW_NEXT },
	{ "VOpen", EFFECT_NOTHING, FLOW_NEXT },
	{ "Close", EFFECT_NOTHING, FLOW_NEXT },
	{ "Transaction", EFFECT_NOTHING, FLOW_NEXT },
	{ "Explain", EFFECT_NOTHING, FLOW_NEXT },
	{ "Noop", EFFECT_NOTHING, FLOW_NEXT },
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

static void add_instruction(struct program *program, sqlite3_stmt *statement)
{
	struct instruction next = { .name = column_copy(statement, 1),
				    .p1 = sqlite3_column_int(statement, 2),
				    .p2 = sqlite3_column_int(statement, 3),
				    .p3 = sqlite3_column_int(statement, 4),
				    .p4 = column_copy(statement, 5),
				    .p5 = sqlite3_column_int(statement, 6) };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(known[i].name, next.name)) {
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
