/* SPDX-License-Identifier: MIT */
/*
 * bytecode.c - uses the data flow of flow.h: a comparison is reported when one side can only be
 * text, the other only a number, and its conversion does nothing. SQLite evaluates UNION, EXCEPT
 * and INTERSECT by instructions that fill or search sets of rows; each of them has a function below
 * that knows its pattern.
 */
#include "bytecode.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "flow.h"
#include "sql/infer.h"
#include "text/sanitize.h"

enum { SHOWN_MAX = 30, AFFINITY_MASK = 0x47, AFFINITY_TEXT = 'B' };
/* A bit of P5 of Compare. */
enum { PERMUTED = 1 };
enum { DEPTH_MAX = 10 };

/* ---- comparisons ---- */

static bool is_apart(unsigned a, unsigned b)
{
	return (a == KIND_TEXT && b == KIND_NUMBER) || (a == KIND_NUMBER && b == KIND_TEXT);
}

/* Returns the text of a constant or parameter; NULL for another value. */
static const char *literal_of(const struct flow *flow, const struct instruction *origin)
{
	if (origin != NULL && origin->effect == EFFECT_TEXT)
		return origin->p4;
	if (origin == NULL || origin->effect != EFFECT_PARAM)
		return NULL;
	return json_string_value(json_array_get(flow->query->params, (size_t)origin->p1 - 1));
}

static void report_function(const char *call, struct sink *sink)
{
	int len = (int)strcspn(call, "(");

	sink_note(sink,
		  "%.*s() gives a text and was compared with a number: it equals none and is more "
		  "than any; CAST(%.*s(...) AS REAL) compares numbers",
		  len, call, len, call);
}

static void report_literal(const char *text, struct sink *sink)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&shown, text, strlen(text), SHOWN_MAX);
	sink_note(
		sink,
		"a number was compared with the text '%s': it equals none and is less than any; a "
		"number in its place compares numbers",
		buf_str(&shown));
}

/*
 * Reports a comparison and returns true. Returns false when it does no harm. `origin` is that of
 * the text.
 */
static bool report_comparison_of(const struct flow *flow, const struct instruction *origin,
				 bool unequal, struct sink *sink)
{
	const char *text = literal_of(flow, origin);

	if (text != NULL && (*text == '\0' || (unequal && strpbrk(text, "0123456789") == NULL)))
		return false;
	if (text != NULL)
		report_literal(text, sink);
	else if (origin != NULL &&
		 (origin->effect == EFFECT_CALL || origin->effect == EFFECT_FINAL))
		report_function(origin->p4, sink);
	else
		sink_note(sink,
			  "a text that the query makes was compared with a number that it "
			  "makes: no text equals a number, and each is more; CAST(... AS REAL) "
			  "of the text compares numbers");
	return true;
}

static bool report_comparison(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	int text = flow_kinds(flow, index, at->p1) == KIND_TEXT ? at->p1 : at->p3;

	if ((at->p5 & AFFINITY_MASK) >= AFFINITY_TEXT ||
	    !is_apart(flow_kinds(flow, index, at->p1), flow_kinds(flow, index, at->p3)))
		return false;
	return report_comparison_of(flow, program_origin(&flow->program, index, text),
				    str_eq(at->name, "Ne"), sink);
}

/* Reports IN, and joins with the result of a subquery. */
static bool report_search(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	long count = strtol(at->p4, NULL, 10);

	for (int i = 0; i < count && i < PROGRAM_COLUMNS_MAX; i++) {
		unsigned kinds = flow_kinds(flow, index, at->p3 + i);

		if (is_apart(kinds, flow_column(flow, at->p1, i)))
			return report_comparison_of(
				flow,
				kinds == KIND_TEXT
					? program_origin(&flow->program, index, at->p3 + i)
					: NULL,
				false, sink);
	}
	return false;
}

/* ---- UNION, EXCEPT and INTERSECT ---- */

/* The kinds of one side's values, and the origin of its texts. */
struct part {
	unsigned kinds;
	const struct instruction *origin;
};

static struct part part_of_column(const struct flow *flow, int cursor, int column, unsigned depth);

/*
 * Returns a value's kinds and origin. A value that is read from a cursor has the origin of what was
 * inserted.
 */
static struct part part_of(const struct flow *flow, size_t index, int reg, unsigned depth)
{
	struct part part = { .kinds = flow_kinds(flow, index, reg),
			     .origin = program_origin(&flow->program, index, reg) };
	const struct instruction *inner = NULL;

	if (part.origin != NULL && part.origin->effect == EFFECT_COLUMN && depth < DEPTH_MAX)
		inner = part_of_column(flow, program_source(&flow->program, part.origin->p1),
				       part.origin->p2, depth + 1)
				.origin;
	if (inner != NULL)
		part.origin = inner;
	return part;
}

static struct part part_of_column(const struct flow *flow, int cursor, int column, unsigned depth)
{
	struct part part = { .kinds = flow_column(flow, cursor, column) };

	for (size_t i = 0; i < flow->program.count && part.origin == NULL; i++) {
		const struct instruction *at = &flow->program.list[i];
		const struct instruction *record;
		size_t made = 0;

		if (at->effect != EFFECT_INSERT || at->p1 != cursor || !flow->reached[i])
			continue;
		record = program_record(&flow->program, i, &made);
		if (record != NULL && column < record->p2 &&
		    flow_kinds(flow, made, record->p1 + column) == KIND_TEXT)
			part.origin = part_of(flow, made, record->p1 + column, depth).origin;
	}
	return part;
}

/*
 * Returns true for a column of a file, which compound.c reports by its name, unless it is cast to
 * text.
 */
static bool is_text_column(const struct flow *flow, const struct instruction *origin)
{
	return origin != NULL &&
	       (origin->effect == EFFECT_COLUMN || origin->effect == EFFECT_VCOLUMN) &&
	       flow_column(flow, origin->p1, origin->p2) == KIND_TEXT;
}

static bool report_combined(const struct flow *flow, struct part a, struct part b,
			    struct sink *sink)
{
	const struct instruction *origin = a.kinds == KIND_TEXT ? a.origin : b.origin;
	enum program_effect effect = origin != NULL ? origin->effect : EFFECT_UNKNOWN;
	const char *text = literal_of(flow, origin);
	cleanup_buf struct buf what = BUF_INIT(BUF_UNBOUNDED);

	if (!is_apart(a.kinds, b.kinds) || is_text_column(flow, origin) ||
	    (text != NULL && !infer_is_number(infer_class(text, strlen(text)), false)))
		return false;
	if (text != NULL)
		buf_putf(&what, "the text '%s'", text);
	else if (effect == EFFECT_CALL || effect == EFFECT_FINAL)
		buf_putf(&what, "what %.*s() gives is text and", (int)strcspn(origin->p4, "("),
			 origin->p4);
	else
		buf_puts(&what, "a text that the query makes");
	sink_note(sink,
		  "%s comes into one column with numbers: 1 and '1' are two values there; "
		  "CAST(... AS TEXT) in each SELECT makes them one",
		  buf_str(&what));
	return true;
}

/* Rows that begin with different labels, 'rows' and 'last', are never equal. */
static bool is_labelled(const struct flow *flow, struct part a, struct part b)
{
	const char *left = literal_of(flow, a.origin);
	const char *right = literal_of(flow, b.origin);

	return left != NULL && right != NULL && !str_eq(left, right);
}

/* A row in registers from `reg` on, before the instruction. */
struct row {
	size_t index;
	int reg;
};

static bool report_rows(const struct flow *flow, struct row a, struct row b, int count,
			struct sink *sink)
{
	bool apart = false;

	for (int c = 0; c < count; c++)
		apart = apart || is_apart(flow_kinds(flow, a.index, a.reg + c),
					  flow_kinds(flow, b.index, b.reg + c));
	for (int c = 0; apart && c < count; c++)
		if (is_labelled(flow, part_of(flow, a.index, a.reg + c, 0),
				part_of(flow, b.index, b.reg + c, 0)))
			return false;
	for (int c = 0; apart && c < count; c++)
		if (report_combined(flow, part_of(flow, a.index, a.reg + c, 0),
				    part_of(flow, b.index, b.reg + c, 0), sink))
			return true;
	return false;
}

/*
 * Reports a UNION: the same set is filled at several places and read, while sets of IN are not
 * read. Each place is compared with the first.
 */
static bool report_union(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	size_t made = 0;
	const struct instruction *record = program_record(&flow->program, index, &made);

	if (record == NULL || !program_reads(&flow->program, at->p1))
		return false;
	for (size_t i = 0; i < index; i++) {
		const struct instruction *other = &flow->program.list[i];
		size_t before = 0;

		if (!str_eq(other->name, at->name) || other->p1 != at->p1 || !flow->reached[i])
			continue;
		other = program_record(&flow->program, i, &before);
		return other != NULL && other->p2 == record->p2 &&
		       report_rows(flow, (struct row){ before, other->p1 },
				   (struct row){ made, record->p1 }, record->p2, sink);
	}
	return false;
}

static bool report_except(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];

	for (int c = 0; c < at->p3; c++)
		if (report_combined(flow, part_of(flow, index, at->p2 + c, 0),
				    part_of_column(flow, at->p1, c, 0), sink))
			return true;
	return false;
}

/* Reports an INTERSECT, which searches whole rows of one set in another. */
static bool report_intersect(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	const struct instruction *row = at - (index > 0);

	if (!str_eq(row->name, "RowData") || row->p2 != at->p3)
		return false;
	for (int c = 0; c < PROGRAM_COLUMNS_MAX; c++)
		if (report_combined(flow, part_of_column(flow, row->p1, c, 0),
				    part_of_column(flow, at->p1, c, 0), sink))
			return true;
	return false;
}

/*
 * Reports a merge of two sorted sides, for ORDER BY. UNION ALL treats equal rows as smaller ones.
 */
static bool report_merge(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	const struct instruction *jump = at + (index + 1 < flow->program.count);

	if ((at->p5 & PERMUTED) == 0 || jump->p1 == jump->p2)
		return false;
	return report_rows(flow, (struct row){ index, at->p1 }, (struct row){ index, at->p2 },
			   at->p3, sink);
}

/* ---- all of it ---- */

static const struct {
	const char *name;
	bool (*report)(const struct flow *flow, size_t index, struct sink *sink);
} reporters[] = {
	{ "IdxInsert", report_union },
	{ "IdxDelete", report_except },
	{ "NotFound", report_intersect },
	{ "Compare", report_merge },
};

static bool report_set(const struct flow *flow, size_t index, struct sink *sink)
{
	for (size_t i = 0; i < ARRAY_SIZE(reporters); i++)
		if (str_eq(reporters[i].name, flow->program.list[index].name))
			return reporters[i].report(flow, index, sink);
	return false;
}

static bool report_values(const struct flow *flow, size_t index, struct sink *sink)
{
	enum program_effect effect = flow->program.list[index].effect;

	if (effect == EFFECT_COMPARE)
		return report_comparison(flow, index, sink);
	return effect == EFFECT_FIND && report_search(flow, index, sink);
}

/* Reports the first finding of each kind. */
static void report_first(const struct flow *flow, struct sink *sink)
{
	bool compared = false;
	bool together = false;

	for (size_t i = 0; i < flow->program.count; i++) {
		if (!flow->reached[i])
			continue;
		compared = compared || report_values(flow, i, sink);
		together = together || report_set(flow, i, sink);
	}
}

void bytecode_report(sqlite3 *db, const struct query *query, struct sink *sink)
{
	struct flow flow;

	if (!flow_begin(&flow, db, query))
		return;
	report_first(&flow, sink);
	flow_end(&flow);
}
