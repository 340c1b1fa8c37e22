/* SPDX-License-Identifier: MIT */
/*
 * compare.c - inspects each operator of a query.
 *
 * One pass over the tokens: at each operator both sides are analyzed (side.h), and each gets the
 * marks that it earns beside the other. A struct operation says which of equal, longer and shorter
 * texts matter. Keywords and functions lead to the modules for sorting, aggregates, compounds,
 * dates and JSON.
 */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bare.h"
#include "base/mem.h"
#include "base/util.h"
#include "call.h"
#include "compound.h"
#include "constant.h"
#include "dated.h"
#include "sorting.h"
#include "sql/moment.h"
#include "taken.h"

enum { NAMES_MAX = 100000, ROW_MAX = 100 };

struct compare {
	struct clause clause;
	struct sides sides;
	struct dated dated;
	struct taken taken;
};

/* How an operator compares its sides. */
struct operation {
	bool orders;  /* < and its like */
	bool unequal; /* <>, NOT IN */
	bool reaches; /* the left side may be equal to the right one, or less */
	bool reached; /* the right side may be equal to the left one, or less */
	/*
	 * Whether equal moments that are longer, or shorter, texts on the left change the answer.
	 */
	bool longer;
	bool shorter;
};

static const struct operation equality = {
	.reaches = true, .reached = true, .longer = true, .shorter = true
};

/* ---- two sides ---- */

/*
 * Returns true for times beside days: 2026-01-05 10:00 is greater than 2026-01-05, and never equals
 * it.
 */
static bool misses_days(unsigned moments, const struct side *b)
{
	return moment_has_both(moments) && (b->days || moment_is_day(b->written));
}

/* Returns true for columns of dates beside columns in another form. */
static bool is_spelt(const struct side *a, const struct side *b, struct operation operation)
{
	return a->moments != 0 && b->moments != 0 &&
	       (b->mixed || moment_is_elsewhere(a->offset, b->offset) ||
		moment_differs(a->moments, b->moments) ||
		(operation.longer && moment_extends(a->moments, b->moments)) ||
		(operation.shorter && moment_extends(b->moments, a->moments)));
}

/* Returns true for columns of dates beside a date that the query has in another form. */
static bool is_unlike(const struct side *a, const struct side *b, struct operation operation)
{
	return a->moments != 0 && b->written != 0 &&
	       (moment_is_elsewhere(a->offset, b->written_offset) ||
		moment_differs(a->moments, b->written) ||
		(operation.longer && moment_extends(a->moments, b->written)) ||
		(operation.shorter && moment_extends(b->written, a->moments)));
}

/* Returns the marks that follow from the kinds of both sides. */
static unsigned kind_marks(const struct side *a, const struct side *b, struct operation operation)
{
	unsigned marks = 0;

	if (a->text && ((b->number && !b->truth) || b->numeric))
		marks |= COLUMN_NUMBERED;
	if (a->text && b->truth)
		marks |= COLUMN_TRUTH;
	if (operation.orders && a->text && !b->number && !b->numeric && b->word == 0)
		marks |= COLUMN_SORTED;
	if (a->text && b->boolean)
		marks |= COLUMN_TRUE;
	/* n <> '' is what was meant. */
	if ((a->numeric || a->boolean) && !a->text && b->word != 0 &&
	    (!operation.unequal || b->written != 0))
		marks |= COLUMN_TEXTED;
	return marks;
}

/* Returns the marks of the columns of `a`, on the left, beside `b`. */
static unsigned marks_of(const struct side *a, const struct side *b, struct operation operation)
{
	unsigned marks = kind_marks(a, b, operation);

	if (operation.orders && moment_sorts_wrong(a->moments))
		marks |= COLUMN_ORDERED;
	if (is_unlike(a, b, operation) || ((a->moments & MOMENT_DATE) && b->compact))
		marks |= COLUMN_ORDERED | COLUMN_UNLIKE;
	if (is_spelt(a, b, operation))
		marks |= COLUMN_ORDERED | (a->wrong || b->wrong ? 0 : COLUMN_SPELT);
	if (operation.reaches && misses_days(a->moments, b))
		marks |= COLUMN_TIMED;
	if (operation.shorter && a->days && b->midnight)
		marks |= COLUMN_MIDNIGHT;
	return marks;
}

static void inspect_values(struct compare *compare, struct side *a, struct side *b,
			   struct operation operation)
{
	const struct sides *sides = &compare->sides;
	struct operation turned = operation;

	turned.reaches = operation.reached;
	turned.reached = operation.reaches;
	turned.longer = operation.shorter;
	turned.shorter = operation.longer;
	side_look(sides, a);
	side_look(sides, b);
	side_mark(sides, a, marks_of(a, b, operation));
	side_mark(sides, b, marks_of(b, a, turned));
	dated_compare(&compare->dated, a, b, operation.orders, operation.shorter);
	dated_compare(&compare->dated, b, a, operation.orders, turned.shorter);
	taken_compare(&compare->taken, sides, a, b);
	taken_compare(&compare->taken, sides, b, a);
}

/* Returns number `index`, from 0, of (a, b) or (SELECT a, b ...); an empty side for none. */
static struct side row_part(const struct compare *compare, const struct side *row, size_t index)
{
	const struct clause *clause = &compare->clause;
	size_t begin = row->begin + 1;

	if (!clause_is_char(clause, row->begin, '(') ||
	    clause_behind_brackets(clause, row->begin) != row->end ||
	    clause_is(clause, begin, "VALUES"))
		return (struct side){ .begin = 0 };
	if (clause_is(clause, begin, "SELECT"))
		return side_item(&compare->sides, begin, index);
	for (size_t at = begin; at < row->end && index > 0; at++)
		if (clause_is_char(clause, at, ',') &&
		    clause_bracket_of(clause, at) == row->begin) {
			begin = at + 1;
			index--;
		}
	return (struct side){ .begin = begin,
			      .end = index > 0 ? begin : clause_right_of(clause, begin, false) };
}

static bool has_part(const struct compare *compare, const struct side *row, size_t index)
{
	struct side part = row_part(compare, row, index);

	return part.begin != part.end;
}

static void inspect_parts(struct compare *compare, const struct side *a, const struct side *b,
			  struct operation operation)
{
	for (size_t i = 0; i < ROW_MAX && has_part(compare, a, i) && has_part(compare, b, i); i++) {
		struct side part = row_part(compare, a, i);
		struct side other = row_part(compare, b, i);

		inspect_values(compare, &part, &other, operation);
	}
}

/* Compares values, rows, or a row with a list of rows. VALUES beside a row is not inspected. */
static void inspect_both(struct compare *compare, struct side *a, struct side *b,
			 struct operation operation)
{
	struct side first = row_part(compare, b, 0);

	if (!has_part(compare, a, 1))
		inspect_values(compare, a, b, operation);
	else if (first.begin == first.end || !has_part(compare, &first, 1))
		inspect_parts(compare, a, b, operation);
	else
		for (size_t i = 0; i < ROW_MAX && has_part(compare, b, i); i++) {
			struct side row = row_part(compare, b, i);

			inspect_parts(compare, a, &row, operation);
		}
}

/* ---- the operators ---- */

/* BETWEEN is two operators. */
static const struct operation from = { .orders = true, .reached = true, .shorter = true };
static const struct operation up_to = { .orders = true, .reaches = true, .longer = true };

static struct operation operation_of(const struct clause *clause, size_t at, size_t behind,
				     bool not )
{
	bool less = clause_is_one_of(clause, at, "<>");
	bool twice = clause_is_char(clause, at, '<') && clause_is_char(clause, behind - 1, '>');

	bool orders = less && !twice;
	bool equal = !orders || clause_is_char(clause, behind - 1, '=');
	bool more = orders && clause_is_char(clause, at, '>');

	return (struct operation){
		.orders = orders,
		.unequal = not || twice || clause_is_char(clause, at, '!'),
		.reaches = equal && !more,
		.reached = equal && !(orders && clause_is_char(clause, at, '<')),
		.longer = orders ? more != equal : true,
		.shorter = orders ? more == equal : true,
	};
}

/* Returns the token behind the name, call or constant at `end`. */
static size_t behind_value(const struct clause *clause, size_t end)
{
	while (clause_is_name(clause, end) && clause_is_char(clause, end + 1, '.'))
		end += 2;
	if (clause_is_name(clause, end) && clause_is_char(clause, end + 1, '('))
		end++;
	return clause_is_char(clause, end, '(') ? clause_behind_brackets(clause, end) : end + 1;
}

/* Returns the name or call at `begin`, together with what -> and ->> take from it. */
static struct side value_behind(const struct clause *clause, size_t begin)
{
	size_t end = behind_value(clause, begin);

	while (end + 2 < clause->count && clause_is_char(clause, end, '-') &&
	       clause_is_char(clause, end + 1, '>'))
		end = behind_value(clause, clause_behind_operator(clause, end));
	return (struct side){ .begin = begin, .end = end };
}

/* Accepts v, and coalesce(v, 0). */
static bool is_value(const struct clause *clause, size_t at)
{
	return !clause_is_char(clause, at + 1, '(') || clause_is(clause, at, "coalesce") ||
	       clause_is(clause, at, "ifnull");
}

/* Marks v IS NOT TRUE, but not v = 1 IS TRUE. */
static void inspect_truth(const struct compare *compare, struct side side)
{
	const struct clause *clause = &compare->clause;

	if (is_value(clause, side.begin) && value_behind(clause, side.begin).end == side.end)
		side_mark(&compare->sides, &side, COLUMN_CONDITION);
}

/* Inspects v BETWEEN a AND b; `b` has both limits. */
static void inspect_limits(struct compare *compare, struct side a, struct side b, bool unequal)
{
	struct operation low = from;
	struct operation high = up_to;
	struct side first = { .begin = b.begin,
			      .end = clause_right_of(&compare->clause, b.begin, false) };
	struct side second = { .begin = size_min(first.end + 1, b.end), .end = b.end };

	low.unequal = high.unequal = unequal;
	inspect_both(compare, &a, &first, low);
	a = (struct side){ .begin = a.begin, .end = a.end };
	inspect_both(compare, &a, &second, high);
}

static void inspect_operator(struct compare *compare, size_t at, size_t behind)
{
	static const char *const truths[] = { "TRUE", "FALSE", NULL };
	const struct clause *clause = &compare->clause;
	bool before = at > 0 && clause_is(clause, at - 1, "NOT");
	bool after = clause_is(clause, at, "IS") && clause_is(clause, behind, "NOT");
	struct side a = { .end = before ? at - 1 : at };
	bool between = clause_is(clause, at, "BETWEEN");
	struct side b = { .begin = behind + after };

	a.begin = clause_left_of(clause, a.end);
	b.end = clause_right_of(clause, b.begin, between);
	if (clause_is(clause, at, "IS") && clause_is_any(clause, b.begin, truths)) {
		inspect_truth(compare, a);
		return;
	}
	if (between)
		inspect_limits(compare, a, b, before);
	else
		inspect_both(compare, &a, &b, operation_of(clause, at, behind, before || after));
}

/* Inspects CASE v WHEN 9 THEN. */
static void inspect_case(struct compare *compare, size_t at)
{
	const struct clause *clause = &compare->clause;
	size_t end = clause_right_of(clause, at + 1, false);

	for (size_t when = end; end > at + 1 && clause_is(clause, when, "WHEN");) {
		struct side a = { .begin = at + 1, .end = end };
		struct side b = { .begin = when + 1,
				  .end = clause_right_of(clause, when + 1, false) };

		inspect_both(compare, &a, &b, equality);
		when = b.end;
		while (when < clause->count - 1 && !clause_is(clause, when, "WHEN") &&
		       !clause_is(clause, when, "END"))
			when++;
	}
}

/* Inspects a join by equal names. */
static void inspect_name(struct compare *compare, const char *name)
{
	struct side side = { .begin = 0 };
	unsigned marks;

	side_look_named(&compare->sides, name, &side);
	marks = misses_days(side.moments, &side) ? COLUMN_TIMED : 0;
	if (!side.mixed)
		side.moments = 0;
	side_mark_named(&compare->sides, name, marks | marks_of(&side, &side, equality));
}

/* Inspects JOIN ... USING (v). */
static void inspect_using(struct compare *compare, size_t at)
{
	const struct clause *clause = &compare->clause;
	size_t end = clause_behind_brackets(clause, at + 1);

	for (size_t i = at + 1; i < end; i++) {
		cleanup_free char *name = NULL;

		if (!clause_is_name(clause, i))
			continue;
		name = token_name(&clause->lexer, &clause->tokens[i]);
		inspect_name(compare, name);
	}
}

/* Inspects NATURAL JOIN: all columns whose names another file has as well. */
static void inspect_natural(struct compare *compare)
{
	const struct sides *sides = &compare->sides;

	for (size_t s = 0; s < sides->count; s++)
		for (size_t i = 0; i < sides->sheets[s]->count; i++)
			if (sides->sheets[s]->used)
				inspect_name(compare, sides->sheets[s]->columns[i].name);
}

/* ---- functions of dates ---- */

/* Inspects strftime('%Y', d). */
static void inspect_function(struct compare *compare, size_t at)
{
	struct side side = { .begin = at + 2,
			     .end = clause_behind_brackets(&compare->clause, at + 1) - 1 };

	struct side name = call_dated_name(&compare->clause, at);

	side_look(&compare->sides, &side);
	if (moment_is_unread(side.moments))
		side_mark(&compare->sides, &side, COLUMN_ORDERED);
	side_look(&compare->sides, &name);
	if (name.call == 0 && !name.number)
		side_mark(&compare->sides, &name, COLUMN_DAYS);
	dated_look(&compare->dated, at);
}

/* ---- calculations ---- */

/* Returns true when a sign behind this token is an operator, and a star is no list of columns. */
static bool ends_value(const struct clause *clause, size_t at)
{
	static const char *const words[] = { "BETWEEN", "LIKE",   "IN",     "IS",
					     "ALL",     "OFFSET", "VALUES", NULL };
	enum token_kind kind = clause->tokens[at].kind;

	if (clause_is_name(clause, at))
		return !clause_is_boundary(clause, at) && !clause_is_any(clause, at, words);
	return kind == TOKEN_NUMBER || kind == TOKEN_STRING || kind == TOKEN_PARAM ||
	       clause_is_char(clause, at, ')');
}

/* Returns the name or call that ends before `end`. */
static struct side value_before(const struct clause *clause, size_t end)
{
	size_t begin = end - 1;

	if (clause_is_char(clause, begin, ')')) {
		while (begin > 0 && clause->behinds[begin] != end)
			begin--;
		begin -= begin > 0 && clause_is_name(clause, begin - 1) &&
			 !clause_is_boundary(clause, begin - 1);
	}
	return (struct side){ .begin = begin, .end = end };
}

/* Returns true for v + 0 and v * 1, which are written to convert a text to a number. */
static bool is_conversion(const struct clause *clause, size_t at)
{
	double idle = clause_is_one_of(clause, at, "+-") ? 0 : 1;

	for (size_t i = at - 1; i <= at + 1; i += 2) {
		const struct token *token = &clause->tokens[i];

		if (token->kind == TOKEN_NUMBER &&
		    strtod(clause->lexer.text + token->at, NULL) == idle)
			return i > at || !clause_is_one_of(clause, at, "-/");
	}
	return false;
}

/* Marks -v, or abs(v): the value that begins at `at`. */
static void inspect_number(const struct compare *compare, size_t at)
{
	struct side value = value_behind(&compare->clause, at);

	if (clause_is_name(&compare->clause, at) && value.end < compare->clause.count)
		side_mark(&compare->sides, &value, COLUMN_ADDED);
}

/* Accepts v or t.v. */
static bool is_plain(const struct clause *clause, struct side value)
{
	return value.end < clause->count && clause_is_name(clause, value.begin) &&
	       clause_is_name(clause, value.end - 1);
}

/* Returns true when the query asks elsewhere for texts of the name at `name`, as v <> '-' does. */
static bool is_guarded(const struct clause *clause, size_t name)
{
	static const char *const words[] = { "NOT", "LIKE", "GLOB", "REGEXP", "IN", "WHEN", NULL };

	for (size_t i = clause->firsts[name]; i > 0 && i + 2 < clause->count;
	     i = clause->nexts[i]) {
		size_t at = i + 1;

		while (clause_is_any(clause, at, words) || clause_is_one_of(clause, at, "=!<>("))
			at++;
		if (at > i + 1 && clause->tokens[at].kind == TOKEN_STRING)
			return true;
	}
	return false;
}

/* Marks v + 0; `value` is v. */
static void inspect_conversion(const struct compare *compare, struct side value)
{
	const struct clause *clause = &compare->clause;

	if (is_plain(clause, value))
		side_mark(&compare->sides, &value,
			  COLUMN_CONVERTED | (is_guarded(clause, value.end - 1) ? 0 : COLUMN_CAST));
}

/* Marks CAST(v AS REAL), but not CAST(v || w AS REAL). */
static void inspect_cast(const struct compare *compare, size_t at)
{
	struct side value = value_behind(&compare->clause, at + 2);

	if (value.end < compare->clause.count && clause_is(&compare->clause, value.end, "AS"))
		inspect_conversion(compare, value);
}

static void inspect_sum(struct compare *compare, size_t at)
{
	const struct clause *clause = &compare->clause;
	struct side values[2];

	if (at > 0 && clause_is_char(clause, at, '-') && !ends_value(clause, at - 1))
		inspect_number(compare, at + 1);
	if (at == 0 || !ends_value(clause, at - 1) || clause_is_char(clause, at + 1, '>'))
		return;
	values[0] = value_before(clause, at);
	values[1] = value_behind(clause, at + 1);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (is_conversion(clause, at))
			inspect_conversion(compare, values[i]);
		else
			side_mark(&compare->sides, &values[i], COLUMN_ADDED);
}

/* ---- columns that are conditions by themselves ---- */

/* Marks WHERE v, NOT v, iif(v, 1, 0). */
static void inspect_condition(const struct compare *compare, size_t at)
{
	const struct clause *clause = &compare->clause;
	struct side side = value_behind(clause, at);

	if (side.end >= clause->count || !is_value(clause, at) ||
	    !clause_begins_condition(clause, at) || !clause_ends_condition(clause, side.end))
		return;
	side_mark(&compare->sides, &side, COLUMN_CONDITION);
}

/* ---- all of it ---- */

static void inspect_word(struct compare *compare, size_t at)
{
	static const char *const extremes[] = { "min", "max", NULL };
	static const char *const functions[] = { "date",     "time",      "datetime", "julianday",
						 "strftime", "unixepoch", NULL };
	static const char *const numbers[] = { "abs", "round", "ceil", "floor", "sqrt", "log",
					       "exp", "power", "pow",  "mod",   "sign", NULL };
	static const char *const compounds[] = { "UNION", "EXCEPT", "INTERSECT", NULL };
	const struct clause *clause = &compare->clause;
	bool call = clause_is_char(clause, at + 1, '(');

	if (clause_is(clause, at, "CASE"))
		inspect_case(compare, at);
	else if (clause_is(clause, at, "USING"))
		inspect_using(compare, at);
	else if (clause_is(clause, at, "NATURAL"))
		inspect_natural(compare);
	else if (clause_is(clause, at, "BY") && at > 0 && clause_is(clause, at - 1, "ORDER"))
		sorting_mark(&compare->sides, at);
	else if (call && clause_is_any(clause, at, extremes))
		sorting_mark_extreme(&compare->sides, at);
	else if (call && clause_is(clause, at, "CAST") && call_casts_to_number(clause, at))
		inspect_cast(compare, at);
	else if (call && clause_is_any(clause, at, functions))
		inspect_function(compare, at);
	else if (call && clause_is_any(clause, at, numbers))
		inspect_number(compare, at + 2);
	else if (clause_is(clause, at, "SELECT"))
		bare_mark(&compare->sides, at);
	else if (clause_is_any(clause, at, compounds))
		compound_mark(&compare->sides, at);
	else if (clause_is_name(clause, at))
		inspect_condition(compare, at);
}

void compare_report(const struct query *query, struct sides sides, sqlite3 *db, struct sink *sink)
{
	struct compare compare = { .sides = sides };
	const struct clause *clause = &compare.clause;
	size_t budget = NAMES_MAX;

	clause_init(&compare.clause, query);
	compare.sides.clause = clause;
	compare.taken = (struct taken){ .db = db, .sink = sink };
	compare.dated = (struct dated){ .clause = clause, .db = db, .sink = sink };
	side_begin(&compare.sides, &budget);
	for (size_t at = 0; at < clause->count - 1; at++) {
		size_t behind = clause_behind_operator(clause, at);

		if (behind > at) {
			if (!clause_is_char(clause, at, '-'))
				inspect_operator(&compare, at, behind);
			at = behind - 1;
		} else if (clause_is_one_of(clause, at, "+-*/%")) {
			inspect_sum(&compare, at);
		} else {
			inspect_word(&compare, at);
		}
	}
	constant_report(&compare.sides, sink);
	side_end(&compare.sides);
	clause_release(&compare.clause);
}
