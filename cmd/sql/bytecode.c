/* SPDX-License-Identifier: MIT */
#include "bytecode.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "flow.h"
#include "sql/infer.h"
#include "text/clean.h"

enum { SHOWN_MAX = 30, AFFINITY_MASK = 0x47, AFFINITY_TEXT = 'B' };

static bool is_apart(unsigned a, unsigned b)
{
	return (a == KIND_TEXT && b == KIND_NUMBER) || (a == KIND_NUMBER && b == KIND_TEXT);
}

/* A text of the query; NULL for another value. */
static const char *literal_of(const struct flow *flow, const struct instruction *origin)
{
	if (origin != NULL && origin->effect == EFFECT_TEXT)
		return origin->p4;
	if (origin == NULL || origin->effect != EFFECT_PARAM)
		return NULL;
	return json_string_value(json_array_get(flow->query->params, (size_t)origin->p1 - 1));
}

static void tell_function(const char *call, struct sink *sink)
{
	int len = (int)strcspn(call, "(");

	sink_note(sink,
		  "%.*s() gives a text and was compared with a number: it equals none and is more "
		  "than any; CAST(%.*s(...) AS REAL) compares numbers",
		  len, call, len, call);
}

static void tell_literal(const char *text, struct sink *sink)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	clean_line(&shown, text, strlen(text), SHOWN_MAX);
	sink_note(
		sink,
		"a number was compared with the text '%s': it equals none and is less than any; a "
		"number in its place compares numbers",
		buf_str(&shown));
}

/* False: it does no harm. `origin` of the text. */
static bool tell(const struct flow *flow, const struct instruction *origin, bool unequal,
		 struct sink *sink)
{
	const char *text = literal_of(flow, origin);

	if (text != NULL && (*text == '\0' || (unequal && strpbrk(text, "0123456789") == NULL)))
		return false;
	if (text != NULL)
		tell_literal(text, sink);
	else if (origin != NULL &&
		 (origin->effect == EFFECT_CALL || origin->effect == EFFECT_FINAL))
		tell_function(origin->p4, sink);
	else
		sink_note(sink,
			  "a text that the query makes was compared with a number that it "
			  "makes: no text equals a number, and each is more; CAST(... AS REAL) "
			  "of the text compares numbers");
	return true;
}

static bool tell_comparison(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	int text = flow_kinds(flow, index, at->p1) == KIND_TEXT ? at->p1 : at->p3;

	if ((at->p5 & AFFINITY_MASK) >= AFFINITY_TEXT ||
	    !is_apart(flow_kinds(flow, index, at->p1), flow_kinds(flow, index, at->p3)))
		return false;
	return tell(flow, program_origin(&flow->program, index, text), str_eq(at->name, "Ne"),
		    sink);
}

/* IN, and joins with what a query makes. */
static bool tell_search(const struct flow *flow, size_t index, struct sink *sink)
{
	const struct instruction *at = &flow->program.list[index];
	long count = strtol(at->p4, NULL, 10);

	for (int i = 0; i < count && i < PROGRAM_COLUMNS_MAX; i++) {
		unsigned kinds = flow_kinds(flow, index, at->p3 + i);

		if (is_apart(kinds, flow_column(flow, at->p1, i)))
			return tell(flow,
				    kinds == KIND_TEXT
					    ? program_origin(&flow->program, index, at->p3 + i)
					    : NULL,
				    false, sink);
	}
	return false;
}

static void tell_first(const struct flow *flow, struct sink *sink)
{
	bool told = false;

	for (size_t i = 0; i < flow->program.count && !told; i++) {
		if (!flow->reached[i])
			continue;
		if (flow->program.list[i].effect == EFFECT_COMPARE)
			told = tell_comparison(flow, i, sink);
		else if (flow->program.list[i].effect == EFFECT_FIND)
			told = tell_search(flow, i, sink);
	}
}

void bytecode_tell(sqlite3 *db, const struct query *query, struct sink *sink)
{
	struct flow flow;

	if (!flow_begin(&flow, db, query))
		return;
	tell_first(&flow, sink);
	flow_end(&flow);
}
