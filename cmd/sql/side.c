/* SPDX-License-Identifier: MIT */
/*
 * side.c - walks once over the tokens of a side.
 *
 * Columns are found among the sheets, functions return what call.h knows, and values of a CASE are
 * analyzed as sides of their own. A name that no column has is an alias. Its definition is searched
 * in the query, a few levels deep and within a budget. side_mark() repeats the walk, so that marks
 * reach exactly the columns that side_look() found.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "call.h"
#include "sql/infer.h"
#include "sql/moment.h"

enum { ALIASES_MAX = 4 };

/* A walk over the tokens of a side. */
struct walk {
	const struct sides *sides;
	struct side *side; /* receives the findings */
	unsigned marks;    /* the marks to set; 0: none */
	unsigned aliases;  /* how many more names are looked up */
};

/* ---- columns ---- */

static bool is_wrong(unsigned moments)
{
	return moment_sorts_wrong(moments) || moment_is_unread(moments);
}

/*
 * Returns true for texts of which at least a fifth are numbers, none with leading zeros, as codes
 * have.
 */
static bool is_half_numbers(const struct column *column)
{
	uint64_t others = infer_others(column->counts, false);
	uint64_t present = 0;
	uint64_t numbers;

	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		present += column->counts[i];
	numbers = present - others - column->counts[INFER_PLUS];
	return column->verdict.type == INFER_TYPE_TEXT &&
	       column->verdict.reason == INFER_NO_REASON && !column_is_dated(column) &&
	       column->counts[INFER_PADDED] == 0 && numbers > 1 && 5 * numbers >= present;
}

static bool is_meant(const struct column *column, enum column_mark mark)
{
	bool dated = column_is_dated(column);
	bool wrong = is_wrong(column->moments);

	switch (mark) {
	case COLUMN_TEXTED:
		return column->verdict.type != INFER_TYPE_TEXT;
	case COLUMN_ORDERED:
		return dated && wrong;
	case COLUMN_UNLIKE:
	case COLUMN_SPELT:
		return dated && !wrong;
	case COLUMN_TIMED:
		return dated && moment_has_both(column->moments);
	case COLUMN_MIDNIGHT:
		return dated && moment_is_day(column->moments);
	case COLUMN_DAYS:
		return !dated && column->verdict.type != INFER_TYPE_BOOLEAN;
	case COLUMN_BARE:
		return true;
	case COLUMN_SORTED:
		return is_half_numbers(column);
	case COLUMN_ADDED:
		return column->verdict.type == INFER_TYPE_TEXT &&
		       infer_others(column->counts, false) > column->counts[INFER_PADDED];
	default:
		return column->verdict.type == INFER_TYPE_TEXT;
	}
}

void side_mark_column(struct column *column, unsigned marks)
{
	for (unsigned mark = 1; mark <= marks; mark <<= 1)
		if ((marks & mark) != 0 && is_meant(column, (enum column_mark)mark))
			column->marks |= mark;
}

static void add_column(struct side *side, const struct column *column)
{
	switch (column->verdict.type) {
	case INFER_TYPE_TEXT:
		side->text = true;
		break;
	case INFER_TYPE_BOOLEAN:
		side->boolean = true;
		break;
	default:
		side->numeric = true;
		break;
	}
	if (!column_is_dated(column))
		return;
	side->mixed = side->mixed || moment_is_elsewhere(side->offset, column->offset) ||
		      (side->moments != 0 && moment_is_other(side->moments, column->moments));
	side->wrong = side->wrong || is_wrong(column->moments);
	side->days = side->days || moment_is_day(column->moments);
	side->moments |= column->moments;
	side->offset = column->is_offset ? column->offset : side->offset;
}

/*
 * Adds the columns of that name, which may be texts in one file and numbers in another. `only`
 * NULL: of any file. Returns false when there is none.
 */
static bool add_named(const struct sides *sides, const struct sheet *only, const char *name,
		      unsigned marks, struct side *side)
{
	bool found = false;

	for (size_t s = 0; s < sides->count; s++) {
		struct sheet *sheet = sides->sheets[s];

		if (only != NULL && sheet != only)
			continue;
		for (size_t i = 0; sheet->used && i < sheet->count; i++) {
			struct column *column = &sheet->columns[i];

			if (!column->wanted || strcasecmp(column->name, name) != 0)
				continue;
			add_column(side, column);
			side_mark_column(column, marks);
			found = true;
		}
	}
	return found;
}

void side_look_named(const struct sides *sides, const char *name, struct side *side)
{
	(void)add_named(sides, NULL, name, 0, side);
}

void side_mark_named(const struct sides *sides, const char *name, unsigned marks)
{
	struct side side = { .begin = 0 };

	(void)add_named(sides, NULL, name, marks, &side);
}

/* ---- other names ---- */

static void walk_side(struct walk *walk);

static void add_side(struct side *side, const struct side *meant)
{
	side->text = side->text || meant->text;
	side->numeric = side->numeric || meant->numeric;
	side->boolean = side->boolean || meant->boolean;
	side->number = side->number || meant->number;
	side->truth = side->truth || meant->truth;
	side->days = side->days || meant->days;
	side->compact = side->compact || meant->compact;
	side->midnight = side->midnight || meant->midnight;
	side->mixed = side->mixed || meant->mixed;
	side->wrong = side->wrong || meant->wrong;
	side->moments |= meant->moments;
	side->offset = meant->offset != 0 ? meant->offset : side->offset;
	side->written_offset =
		meant->written_offset != 0 ? meant->written_offset : side->written_offset;
	side->written |= meant->written;
	side->call = side->call == 0 ? meant->call : side->call;
}

/* Adds what a name stands for, elsewhere in the query. */
static void add_from_elsewhere(const struct walk *at, struct side meant)
{
	struct walk there = *at;
	struct side *side = at->side;

	if (*at->sides->budget == 0)
		return;
	(*at->sides->budget)--;
	there.side = &meant;
	there.aliases--;
	walk_side(&there);
	add_side(side, &meant);
}

struct side side_item(const struct sides *sides, size_t at, size_t index)
{
	static const char *const words[] = { "SELECT", "DISTINCT", "ALL", NULL };
	const struct clause *clause = sides->clause;

	while (clause_is_any(clause, at, words))
		at++;
	for (; index > 0; index--) {
		at = clause_right_of(clause, at, false);
		while (at < clause->count - 1 && !clause_is_one_of(clause, at, ",);") &&
		       !clause_is(clause, at, "FROM"))
			at = clause_right_of(clause, at + 1, false);
		if (!clause_is_char(clause, at, ','))
			return (struct side){ .begin = at, .end = at };
		at++;
	}
	return (struct side){ .begin = at, .end = clause_right_of(clause, at, false) };
}

/* Adds the definition of the name at `i` in WITH t(a, b) AS (SELECT ...). */
static void add_from_list(const struct walk *at, size_t i)
{
	const struct clause *clause = at->sides->clause;
	size_t open = clause_bracket_of(clause, i);
	size_t behind = clause_behind_brackets(clause, open);
	size_t index = 0;

	for (size_t j = open + 1; j < behind - 1; j++) {
		if ((j - open) % 2 == 0 ? !clause_is_char(clause, j, ',')
					: !clause_is_name(clause, j))
			return;
		index += j < i && clause_is_char(clause, j, ',');
	}
	if (!clause_is(clause, behind, "AS"))
		return;
	while (behind < clause->count - 1 && !clause_is_char(clause, behind, '('))
		behind++;
	if (behind + 1 < clause->count && clause_is(clause, behind + 1, "SELECT"))
		add_from_elsewhere(at, side_item(at->sides, behind + 1, index));
}

/* Returns true for SELECT v w: a name behind a value, and before a comma or FROM. */
static bool is_bare_alias(const struct clause *clause, size_t i)
{
	static const char *const operators[] = { "LIKE", "GLOB", "REGEXP", "IS",   "IN", "BETWEEN",
						 "NULL", "ASC",  "DESC",   "OVER", NULL };
	enum token_kind before = clause->tokens[i - 1].kind;

	if (!clause_is(clause, i + 1, "FROM") && !clause_is_one_of(clause, i + 1, ",)"))
		return false;
	return clause_is_char(clause, i - 1, ')') || before == TOKEN_NUMBER ||
	       before == TOKEN_STRING ||
	       (clause_is_name(clause, i - 1) && !clause_is_boundary(clause, i - 1) &&
		!clause_is_any(clause, i - 1, operators));
}

/* Adds the definition before "AS name", or another one of the name. */
static void add_alias(const struct walk *at, size_t name)
{
	const struct clause *clause = at->sides->clause;

	if (at->aliases == 0)
		return;
	for (size_t i = clause->firsts[name]; i > 0 && i < clause->count - 1;
	     i = clause->nexts[i]) {
		struct side meant = { .begin = i, .end = i };

		if (i == name)
			continue;
		if (clause_is(clause, i - 1, "AS"))
			meant.end = i - 1;
		else if (!is_bare_alias(clause, i))
			meant.end = 0;
		if (meant.end > 0) {
			meant.begin = clause_left_of(clause, meant.end);
			add_from_elsewhere(at, meant);
		} else if (clause_is_one_of(clause, i - 1, "(,") &&
			   clause_is_one_of(clause, i + 1, "),")) {
			add_from_list(at, i);
		}
	}
}

/* Returns the brackets in which the name at `i` is defined; 0 when it is not defined there. */
static size_t made_in(const struct clause *clause, size_t i)
{
	static const char *const words[] = { "AS", "NOT", "MATERIALIZED", NULL };
	size_t open = clause_bracket_of(clause, i);
	size_t behind;

	if (i >= 2 && clause_is(clause, i - 1, "AS"))
		return clause_is_same(clause, i - 2, i) ? 0 : open;
	if (i >= 1 && is_bare_alias(clause, i))
		return clause_is_same(clause, i - 1, i) ? 0 : open;
	if (open == 0)
		return 0;
	/* WITH t(a, b) AS (SELECT ...) */
	behind = clause_behind_brackets(clause, open);
	if (!clause_is(clause, behind, "AS"))
		return 0;
	while (clause_is_any(clause, behind, words))
		behind++;
	return clause_is_char(clause, behind, '(') ? behind : 0;
}

/*
 * Returns true when the name at `at` is defined in brackets that do not contain it: then it means
 * that.
 */
static bool is_made_inside(const struct sides *sides, size_t at)
{
	const struct clause *clause = sides->clause;

	for (size_t i = clause->firsts[at]; i > 0; i = clause->nexts[i]) {
		size_t open = sides->made[i];

		if (i != at && open > 0 &&
		    (at < open || at >= clause_behind_brackets(clause, open)))
			return true;
	}
	return false;
}

struct sheet *side_sheet(const struct sides *sides, size_t at)
{
	const struct clause *clause = sides->clause;
	cleanup_free char *name = token_text(&clause->lexer, &clause->tokens[at]);

	if (sides->find == NULL)
		return NULL;
	return sides->find(sides->data, name);
}

static const struct sheet *find_meant(const struct sides *sides, size_t qualifier)
{
	const struct clause *clause = sides->clause;

	for (size_t i = clause->firsts[qualifier]; i > 0; i = clause->nexts[i]) {
		const struct sheet *sheet;
		size_t before;

		if (i < 2 || clause_is_char(clause, i + 1, '.'))
			continue;
		before = clause_is(clause, i - 1, "AS") ? i - 2 : i - 1;
		if (clause_is_one_of(clause, before, ").,"))
			continue;
		sheet = side_sheet(sides, before);
		if (sheet != NULL)
			return sheet;
	}
	return side_sheet(sides, qualifier);
}

/*
 * Returns the file that the name before "." means, by FROM sales s or FROM sales AS s; NULL for
 * none.
 */
static const struct sheet *meant_sheet(const struct sides *sides, size_t qualifier)
{
	size_t first = sides->clause->firsts[qualifier];

	if (!sides->known[first])
		sides->meant[first] = find_meant(sides, qualifier);
	sides->known[first] = true;
	return sides->meant[first];
}

static void add_name(const struct walk *at, size_t name)
{
	const struct clause *clause = at->sides->clause;
	cleanup_free char *text = token_name(&clause->lexer, &clause->tokens[name]);
	const struct sheet *only = name > 1 && clause_is_char(clause, name - 1, '.')
					   ? meant_sheet(at->sides, name - 2)
					   : NULL;

	if ((only == NULL && is_made_inside(at->sides, name)) ||
	    !add_named(at->sides, only, text, at->marks, at->side))
		add_alias(at, name);
}

/* ---- all of a side ---- */

/* Accepts (v = 9). */
static bool is_condition(const struct clause *clause, size_t at)
{
	static const char *const values[] = { "SELECT", "VALUES", "WITH", NULL };

	return clause_is_char(clause, at, '(') && !clause_is_any(clause, at + 1, values) &&
	       clause_has_condition(clause, at + 1, clause_behind_brackets(clause, at) - 1);
}

/* Returns the token behind parts without a value: FROM up to the bracket, WHEN up to THEN. */
static size_t behind_conditions(const struct clause *clause, size_t at, size_t end)
{
	bool when = clause_is(clause, at, "WHEN");
	size_t depth = 0;

	if (!when && !clause_is(clause, at, "FROM"))
		return at;
	for (; at < end && !(when && clause_is(clause, at, "THEN")); at++) {
		if (depth == 0 && clause_is_char(clause, at, ')'))
			break;
		depth += clause_is_char(clause, at, '(');
		depth -= clause_is_char(clause, at, ')');
	}
	return at;
}

static void add_text(struct side *side, const char *text, size_t len, size_t at)
{
	if (!infer_is_number(infer_class(text, len), false) &&
	    infer_class(text, len) != INFER_PADDED)
		side->word = at;
	side->written |= moment_traits(text, len);
	side->compact = side->compact || moment_is_compact(text, len);
	side->midnight = side->midnight || moment_is_midnight(text, len);
	if (moment_traits(text, len) & MOMENT_OFFSETS)
		side->written_offset = moment_offset(text, len);
}

static void add_value(const struct clause *clause, size_t at, struct side *side)
{
	const struct token *token = &clause->tokens[at];
	const json_t *value = token->kind == TOKEN_PARAM ? clause_param(clause, at) : NULL;

	if (token->kind == TOKEN_STRING) {
		cleanup_free char *text = token_text(&clause->lexer, token);

		add_text(side, text, strlen(text), at);
	} else if (json_is_string(value)) {
		add_text(side, json_string_value(value), json_string_length(value), at);
	} else if (token->kind == TOKEN_NUMBER || json_is_number(value) || json_is_boolean(value)) {
		side->number = true;
	}
}

/* Returns true for v + 0 and -v, which are numbers for any v. */
static bool is_sum(const struct clause *clause, const struct side *side)
{
	for (size_t at = side->begin; at < side->end; at = clause_behind_part(clause, at))
		if ((at > side->begin || clause_is_char(clause, at, '-')) &&
		    clause_is_one_of(clause, at, "+-*/%") && !clause_is_char(clause, at + 1, '>'))
			return true;
	return false;
}

/*
 * Returns true for d || ':00', which no longer has the form of d, and n || '-', which is not a
 * number.
 */
static bool is_joined(const struct clause *clause, const struct side *side)
{
	for (size_t at = side->begin; at < side->end; at = clause_behind_part(clause, at))
		if (clause_is_char(clause, at, '|'))
			return true;
	return false;
}

/* Drops the traits of the parts: the result is a text, no matter what they are. */
static void forget_parts(struct side *side)
{
	side->moments = side->written = 0;
	side->days = side->compact = side->midnight = side->mixed = side->wrong = false;
	side->numeric = side->boolean = false;
}

/* Returns true for TRUE and FALSE, which are numbers except behind IS. */
static bool is_truth(const struct clause *clause, size_t at)
{
	static const char *const truths[] = { "TRUE", "FALSE", NULL };
	static const char *const before[] = { "IS", "NOT", NULL };

	return at > 0 && clause_is_any(clause, at, truths) &&
	       !clause_is_any(clause, at - 1, before);
}

static bool is_arrow(const struct clause *clause, size_t at)
{
	return clause_is_char(clause, at, '-') && clause_is_char(clause, at + 1, '>');
}

/* Returns the token behind v ->> 'a' or ->> 'a', whose kind is unknown; `at` for something else. */
static size_t behind_arrow(const struct clause *clause, size_t at, size_t end)
{
	size_t arrow = at + clause_is_name(clause, at);

	if (arrow + 2 >= end || !is_arrow(clause, arrow))
		return at;
	return clause_behind_operator(clause, arrow) + 1;
}

/* Adds one of the values of a CASE, from `begin` up to `end`. */
static void add_branch(const struct walk *at, size_t begin, size_t end)
{
	static const char *const behind[] = { "WHEN", "ELSE", "END", NULL };
	struct side branch = { .begin = begin, .end = end };
	struct walk there = *at;

	if (!clause_is_any(at->sides->clause, end, behind) ||
	    clause_has_condition(at->sides->clause, begin, end)) {
		at->side->number = true;
		return;
	}
	there.side = &branch;
	walk_side(&there);
	add_side(at->side, &branch);
	at->side->word = branch.word != 0 ? branch.word : at->side->word;
}

/* Adds the values of CASE ... THEN v ELSE w END, up to `behind`, but not what it compares. */
static void add_branches(const struct walk *at, size_t begin, size_t behind)
{
	static const char *const words[] = { "THEN", "ELSE", NULL };
	const struct clause *clause = at->sides->clause;

	for (size_t i = begin + 1; i < behind; i = clause_behind_part(clause, i))
		if (clause_is_any(clause, i, words))
			add_branch(at, i + 1, clause_right_of(clause, i + 1, false));
}

static void walk_side(struct walk *walk)
{
	const struct clause *clause = walk->sides->clause;
	struct side *side = walk->side;

	if (is_sum(clause, side)) {
		side->number = true;
		return;
	}
	for (size_t at = side->begin; at < side->end;) {
		bool named = clause_is_name(clause, at);
		bool call = named && clause_is_char(clause, at + 1, '(');
		size_t next = call ? call_behind(clause, at, side)
				   : behind_conditions(clause, at, side->end);

		if (next == at)
			next = behind_arrow(clause, at, side->end);
		if (next == at && is_condition(clause, at)) {
			side->number = true;
			next = clause_behind_brackets(clause, at);
		} else if (next == at) {
			next = clause_behind_case(clause, at);
			add_branches(walk, at, next);
		}
		if (next > at) {
			at = next;
			continue;
		}
		if (is_truth(clause, at))
			side->number = side->truth = true;
		else if (call_is_now(clause, at))
			call_add_moments(clause, at, side);
		else if (named && !call && !clause_is_char(clause, at + 1, '.'))
			add_name(walk, at);
		else
			add_value(clause, at, side);
		at++;
	}
	if (is_joined(clause, side))
		forget_parts(side);
}

void side_look(const struct sides *sides, struct side *side)
{
	walk_side(&(struct walk){ .sides = sides, .side = side, .aliases = ALIASES_MAX });
}

void side_mark(const struct sides *sides, const struct side *side, unsigned marks)
{
	struct side again = { .begin = side->begin, .end = side->end };

	if (marks != 0)
		walk_side(&(struct walk){
			.sides = sides, .side = &again, .marks = marks, .aliases = ALIASES_MAX });
}

/* ---- a query ---- */

void side_begin(struct sides *sides, size_t *budget)
{
	const struct clause *clause = sides->clause;

	sides->known = xcalloc(clause->count, sizeof(*sides->known));
	sides->meant = xcalloc(clause->count, sizeof(struct sheet *));
	sides->made = xcalloc(clause->count, sizeof(*sides->made));
	sides->budget = budget;
	for (size_t i = 1; i + 1 < clause->count; i++)
		if (clause_is_name(clause, i))
			sides->made[i] = made_in(clause, i);
}

void side_end(struct sides *sides)
{
	free(sides->known);
	free(sides->meant);
	free(sides->made);
}
