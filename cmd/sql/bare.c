/* SPDX-License-Identifier: MIT */
/*
 * bare.c - reads a SELECT's list for aggregates. The SELECT is read by its tokens: items of its
 * list without an aggregate are bare when another item has one and no GROUP BY follows. SQLite
 * documents that one min() or max() picks the row, so that is no mistake.
 */
#include "bare.h"

enum { ITEMS_MAX = 100 };

/* Returns the end of the SELECT: its bracket, or the next UNION, EXCEPT or INTERSECT. */
static size_t end_of(const struct clause *clause, size_t select)
{
	static const char *const words[] = { "UNION", "EXCEPT", "INTERSECT", NULL };
	size_t open = clause_bracket_of(clause, select);
	size_t end = open > 0 ? clause_behind_brackets(clause, open) - 1 : clause->count - 1;

	for (size_t at = select + 1; at < end; at++)
		if (clause_bracket_of(clause, at) == open && clause_is_any(clause, at, words))
			return at;
	return end;
}

static bool is_grouped(const struct clause *clause, size_t select, size_t end)
{
	size_t open = clause_bracket_of(clause, select);

	for (size_t at = select + 1; at < end; at++)
		if (clause_bracket_of(clause, at) == open && clause_is(clause, at, "GROUP"))
			return true;
	return false;
}

/* Returns true when OVER follows the call, maybe after a FILTER. */
static bool is_window(const struct clause *clause, size_t call)
{
	size_t at = clause_behind_brackets(clause, call + 1);

	if (clause_is(clause, at, "FILTER"))
		at = clause_behind_brackets(clause, at + 1);
	return clause_is(clause, at, "OVER");
}

static bool has_one_argument(const struct clause *clause, size_t call)
{
	size_t end = clause_behind_brackets(clause, call + 1);

	for (size_t at = call + 2; at < end; at++)
		if (clause_bracket_of(clause, at) == call + 1 && clause_is_char(clause, at, ','))
			return false;
	return true;
}

/* Counts the aggregates between; min() and max() are also counted in *extremes. */
static size_t count_aggregates(const struct clause *clause, size_t begin, size_t end,
			       size_t *extremes)
{
	static const char *const names[] = { "count",        "sum",        "avg",      "total",
					     "median",       "stddev",     "variance", "percentile",
					     "group_concat", "string_agg", NULL };
	static const char *const most[] = { "min", "max", NULL };
	size_t count = 0;

	for (size_t at = begin; at < end; at++) {
		bool call = clause_is_char(clause, at + 1, '(');
		bool extreme =
			call && clause_is_any(clause, at, most) && has_one_argument(clause, at);

		if (clause_is_char(clause, at, '(') && clause_is(clause, at + 1, "SELECT")) {
			at = clause_behind_brackets(clause, at) - 1;
		} else if ((extreme || (call && clause_is_any(clause, at, names))) &&
			   !is_window(clause, at)) {
			count++;
			*extremes += extreme;
		}
	}
	return count;
}

/* Returns true when one of the item's names is beside "=" or similar after the list. */
static bool is_held(const struct clause *clause, const struct side *item, size_t end)
{
	for (size_t name = item->begin; name < item->end; name++)
		for (size_t at = item->end; clause_is_name(clause, name) && at < end; at++)
			if (clause_is_same(clause, at, name) &&
			    (clause_is_one_of(clause, at - 1, "=") ||
			     clause_is_one_of(clause, at + 1, "=") ||
			     clause_is(clause, at + 1, "IN") || clause_is(clause, at + 1, "IS") ||
			     clause_is(clause, at + 1, "LIKE")))
				return true;
	return false;
}

void bare_mark(const struct sides *sides, size_t select)
{
	const struct clause *clause = sides->clause;
	size_t end = end_of(clause, select);
	size_t extremes = 0;
	size_t aggregates = 0;
	struct side items[ITEMS_MAX];
	size_t count = 0;

	while (count < ITEMS_MAX) {
		struct side item = side_item(sides, select, count);
		size_t own;

		if (item.begin == item.end)
			break;
		own = count_aggregates(clause, item.begin, item.end, &extremes);
		aggregates += own;
		items[count++] = own == 0 ? item : (struct side){ .begin = 0 };
	}
	if (aggregates == 0 || extremes == 1 || is_grouped(clause, select, end))
		return;
	for (size_t i = 0; i < count; i++)
		if (items[i].end > items[i].begin && !clause_is_char(clause, items[i].begin, '(') &&
		    !is_held(clause, &items[i], end))
			side_mark(sides, &items[i], COLUMN_BARE);
}
