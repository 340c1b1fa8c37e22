/* SPDX-License-Identifier: MIT */
/*
 * sorting.c - resolves the items of an ORDER BY. The items of an ORDER BY are resolved to what they
 * order: a number to the item of the SELECT, a name to its definition. Wrappers that do not change
 * the order, as lower(d), are removed before the columns are marked.
 */
#include "sorting.h"

#include <stdlib.h>

#include "sql/moment.h"

/* Returns true when the whole side is a call of lower() or upper(). */
static bool is_cased(const struct clause *clause, struct side side)
{
	static const char *const words[] = { "lower", "upper", NULL };

	return clause_is_any(clause, side.begin, words) &&
	       clause_is_char(clause, side.begin + 1, '(') &&
	       clause_behind_brackets(clause, side.begin + 1) == side.end;
}

/* Accepts CAST(d AS TEXT). */
static bool is_cast_to_text(const struct clause *clause, struct side side)
{
	return side.end - side.begin > 5 && clause_is(clause, side.begin, "CAST") &&
	       clause_behind_brackets(clause, side.begin + 1) == side.end &&
	       clause_is(clause, side.end - 2, "TEXT") && clause_is(clause, side.end - 3, "AS");
}

/* Accepts d || ''. */
static bool is_joined_with_nothing(const struct clause *clause, struct side side)
{
	return side.end - side.begin > 3 && clause_is_char(clause, side.end - 2, '|') &&
	       clause->tokens[side.end - 1].kind == TOKEN_STRING &&
	       clause->tokens[side.end - 1].len == 2;
}

/* Returns the part that sorts as the whole does. */
static struct side unwrap(const struct clause *clause, struct side side)
{
	for (;;) {
		if (is_cased(clause, side))
			side = (struct side){ .begin = side.begin + 2, .end = side.end - 1 };
		else if (is_cast_to_text(clause, side))
			side = (struct side){ .begin = side.begin + 2, .end = side.end - 3 };
		else if (is_joined_with_nothing(clause, side))
			side.end -= 3;
		else
			return side;
	}
}

static void inspect_ordered(const struct sides *sides, struct side side)
{
	side = unwrap(sides->clause, side);
	side_look(sides, &side);
	side_mark(sides, &side,
		  COLUMN_SORTED | (moment_sorts_wrong(side.moments) ? COLUMN_ORDERED : 0));
}

/* Inspects max(d). */
void sorting_mark_extreme(const struct sides *sides, size_t at)
{
	inspect_ordered(sides,
			(struct side){ .begin = at + 2,
				       .end = clause_behind_brackets(sides->clause, at + 1) - 1 });
}

/* Marks the column of SELECT * ... ORDER BY 2, if only one file is used. */
static void inspect_all(const struct sides *sides, size_t number)
{
	const struct sheet *only = NULL;

	for (size_t s = 0; s < sides->count; s++) {
		if (!sides->sheets[s]->used)
			continue;
		if (only != NULL)
			return;
		only = sides->sheets[s];
	}
	if (only != NULL && number > 0 && number <= only->count)
		side_mark_named(sides, only->columns[number - 1].name,
				COLUMN_SORTED |
					(moment_sorts_wrong(only->columns[number - 1].moments)
						 ? COLUMN_ORDERED
						 : 0));
}

/* Returns the item that ORDER BY 2 means in the SELECT before it. */
static struct side numbered_item(const struct sides *sides, size_t order, size_t at)
{
	const struct clause *clause = sides->clause;
	size_t number = strtoul(clause->lexer.text + clause->tokens[at].at, NULL, 10);
	size_t open = clause_bracket_of(clause, order);

	for (size_t i = order; i-- > open && number > 0;)
		if (clause_is(clause, i, "SELECT") && clause_bracket_of(clause, i) == open) {
			if (clause_is_char(clause, i + 1, '*'))
				inspect_all(sides, number);
			return side_item(sides, i, number - 1);
		}
	return (struct side){ .begin = at, .end = at };
}

/* Returns the definition of ORDER BY d by "... AS d". */
static struct side named_item(const struct sides *sides, size_t order, size_t at)
{
	const struct clause *clause = sides->clause;
	size_t open = clause_bracket_of(clause, order);

	for (size_t i = clause->firsts[at]; i > 0 && i < order; i = clause->nexts[i])
		if (clause_is(clause, i - 1, "AS") && clause_bracket_of(clause, i) == open)
			return (struct side){ .begin = clause_left_of(clause, i - 1),
					      .end = i - 1 };
	return (struct side){ .begin = at, .end = at + 1 };
}

/* Inspects an ORDER BY; `at` is its BY. */
void sorting_mark(const struct sides *sides, size_t at)
{
	static const char *const ends[] = { "ASC", "DESC", "NULLS", "COLLATE", NULL };
	const struct clause *clause = sides->clause;
	size_t order = at - 1;

	do {
		struct side item = { .begin = at + 1 };

		at = clause_right_of(clause, at + 1, false);
		item.end = at;
		while (item.end > item.begin + 1 && (clause_is_any(clause, item.end - 1, ends) ||
						     clause_is_any(clause, item.end - 2, ends)))
			item.end--;
		if (item.end == item.begin + 1 && clause->tokens[item.begin].kind == TOKEN_NUMBER)
			item = numbered_item(sides, order, item.begin);
		else if (item.end == item.begin + 1)
			item = named_item(sides, order, item.begin);
		inspect_ordered(sides, item);
	} while (clause_is_char(clause, at, ','));
}
