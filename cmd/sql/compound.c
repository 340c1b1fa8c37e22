/* SPDX-License-Identifier: MIT */
/*
 * compound.c - compares the lists of two SELECTs. The lists of two SELECTs are compared item by
 * item. A SELECT that reads a single file may name its columns plainly or by *; all other items are
 * analyzed as sides, without the file being known.
 */
#include "compound.h"

#include <strings.h>

#include "base/mem.h"
#include "sql/moment.h"

enum { ITEMS_MAX = 100 };

/* A SELECT. `sheet` is the only file that it reads, else NULL. */
struct part {
	size_t select;
	struct sheet *sheet;
	bool all; /* SELECT * */
};

/* One item of its list. */
struct item {
	struct side side;
	struct column *column; /* NULL: `side` describes the item */
};

/* ---- a SELECT ---- */

static size_t from_of(const struct clause *clause, size_t select)
{
	size_t open = clause_bracket_of(clause, select);
	size_t at = select;

	while (at < clause->count - 1 &&
	       !(clause_is_char(clause, at, ')') && clause_bracket_of(clause, at) != open) &&
	       !(clause_is(clause, at, "FROM") && clause_bracket_of(clause, at) == open))
		at++;
	return at;
}

static bool ends_from(const struct clause *clause, size_t at)
{
	static const char *const words[] = { "WHERE", "GROUP",  "ORDER",     "LIMIT", "HAVING",
					     "UNION", "EXCEPT", "INTERSECT", NULL };

	return clause->tokens[at].kind == TOKEN_END || clause_is_one_of(clause, at, ");") ||
	       clause_is_any(clause, at, words);
}

/* Returns the file behind FROM if it is the only one, else NULL. */
static struct sheet *only_sheet(const struct sides *sides, size_t from)
{
	const struct clause *clause = sides->clause;
	size_t at = from + 2;

	if (at >= clause->count || !clause_is(clause, from, "FROM"))
		return NULL;
	at += clause_is(clause, at, "AS");
	at += !ends_from(clause, at) && clause_is_name(clause, at);
	return at < clause->count && ends_from(clause, at) ? side_sheet(sides, from + 1) : NULL;
}

static struct part part_at(const struct sides *sides, size_t select)
{
	size_t from = from_of(sides->clause, select);

	return (struct part){ .select = select,
			      .sheet = only_sheet(sides, from),
			      .all = clause_is_char(sides->clause, select + 1, '*') &&
				     from == select + 2 };
}

/* ---- its list ---- */

/* Returns the file's column for "v", "v AS w" or "v w"; NULL for another item. */
static struct column *named_column(const struct clause *clause, const struct part *part,
				   const struct side *side)
{
	size_t behind = side->begin + 1;
	cleanup_free char *name = NULL;

	if (part->sheet == NULL || !clause_is_name(clause, side->begin))
		return NULL;
	if (clause_is(clause, behind, "AS"))
		behind = side->end;
	behind += behind < side->end && clause_is_name(clause, behind);
	if (behind != side->end)
		return NULL;
	name = token_name(&clause->lexer, &clause->tokens[side->begin]);
	for (size_t i = 0; i < part->sheet->count; i++)
		if (strcasecmp(part->sheet->columns[i].name, name) == 0)
			return &part->sheet->columns[i];
	return NULL;
}

/* Returns false when there are no more items. */
static bool item_at(const struct sides *sides, const struct part *part, size_t index,
		    struct item *ret)
{
	*ret = (struct item){ .column = NULL };
	if (part->all) {
		if (part->sheet == NULL || index >= part->sheet->count)
			return false;
		ret->column = &part->sheet->columns[index];
		return true;
	}
	ret->side = side_item(sides, part->select, index);
	if (ret->side.begin == ret->side.end)
		return false;
	ret->column = named_column(sides->clause, part, &ret->side);
	if (ret->column == NULL)
		side_look(sides, &ret->side);
	return true;
}

static bool is_text(const struct item *item)
{
	if (item->column != NULL)
		return item->column->verdict.type == INFER_TYPE_TEXT;
	return item->side.text && !item->side.numeric && !item->side.boolean && !item->side.number;
}

static bool is_number(const struct item *item)
{
	if (item->column != NULL)
		return item->column->verdict.type != INFER_TYPE_TEXT;
	return (item->side.numeric || item->side.boolean) && !item->side.text &&
	       item->side.call == 0 && item->side.word == 0;
}

static unsigned moments_of(const struct item *item)
{
	if (item->column == NULL)
		return item->side.moments;
	return column_is_dated(item->column) ? item->column->moments : 0;
}

/* Returns true when both are dates in different forms. */
static bool are_spelt(const struct item *a, const struct item *b)
{
	unsigned left = moments_of(a);
	unsigned right = moments_of(b);

	return left != 0 && right != 0 && moment_is_other(left, right);
}

static bool is_wrong(const struct item *item)
{
	unsigned moments = moments_of(item);

	return moment_sorts_wrong(moments) || moment_is_unread(moments);
}

static void mark(const struct sides *sides, const struct item *item, unsigned marks)
{
	if (item->column == NULL)
		side_mark(sides, &item->side, marks);
	else if (item->column->wanted)
		side_mark_column(item->column, marks);
}

static void mark_both(const struct sides *sides, const struct item *a, const struct item *b)
{
	unsigned marks = COLUMN_ORDERED | (is_wrong(a) || is_wrong(b) ? 0 : COLUMN_SPELT);

	if (is_text(a) && is_number(b))
		mark(sides, a, COLUMN_STACKED);
	if (is_text(b) && is_number(a))
		mark(sides, b, COLUMN_STACKED);
	if (are_spelt(a, b)) {
		mark(sides, a, marks);
		mark(sides, b, marks);
	}
}

/* ---- the operator ---- */

/* Returns the SELECT before `at` within its brackets; `at` itself for none. */
static size_t select_before(const struct clause *clause, size_t at)
{
	size_t open = clause_bracket_of(clause, at);

	for (size_t i = at; i-- > open;)
		if (clause_is(clause, i, "SELECT") && clause_bracket_of(clause, i) == open)
			return i;
	return at;
}

void compound_mark(const struct sides *sides, size_t at)
{
	const struct clause *clause = sides->clause;
	size_t left = select_before(clause, at);
	size_t right = at + 1 + clause_is(clause, at + 1, "ALL");
	struct part parts[2];
	struct item a;
	struct item b;

	if (left == at || !clause_is(clause, right, "SELECT"))
		return;
	parts[0] = part_at(sides, left);
	parts[1] = part_at(sides, right);
	for (size_t i = 0;
	     i < ITEMS_MAX && item_at(sides, &parts[0], i, &a) && item_at(sides, &parts[1], i, &b);
	     i++)
		mark_both(sides, &a, &b);
}
