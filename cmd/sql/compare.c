/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/util.h"
#include "sql/token.h"

enum { TOKENS_MAX = 20000, SIDE_MAX = 200, ALIASES_MAX = 4 };

struct compare {
	struct lexer lexer;
	struct token *tokens; /* an end is the last */
	size_t count;
	const json_t *params;
	struct sheet *const *sheets;
	size_t sheet_count;
};

/* One side of a comparison: the tokens from `begin` up to `end`. */
struct side {
	size_t begin;
	size_t end;
	bool text;   /* it has a column of texts */
	bool number; /* and a number, or a column of numbers */
};

/* ---- tokens ---- */

static bool is_word(const struct compare *compare, size_t at, const char *word)
{
	return token_is(&compare->lexer, &compare->tokens[at], word);
}

static bool is_char(const struct compare *compare, size_t at, char c)
{
	return token_is_char(&compare->lexer, &compare->tokens[at], c);
}

static bool is_any(const struct compare *compare, size_t at, const char *const *words)
{
	for (; *words != NULL; words++)
		if (is_word(compare, at, *words))
			return true;
	return false;
}

static bool is_one_of(const struct compare *compare, size_t at, const char *chars)
{
	for (; *chars != '\0'; chars++)
		if (is_char(compare, at, *chars))
			return true;
	return false;
}

static void read_tokens(struct compare *compare)
{
	struct token token = { .kind = TOKEN_OTHER };
	struct err err;

	while (token.kind != TOKEN_END) {
		if (compare->count == TOKENS_MAX || token_next(&compare->lexer, &token, &err) < 0)
			token = (struct token){ .kind = TOKEN_END };
		compare->tokens =
			xrealloc(compare->tokens, (compare->count + 1) * sizeof(*compare->tokens));
		compare->tokens[compare->count++] = token;
	}
}

/* The token behind the bracket that ends what begins at `at`. */
static size_t behind_brackets(const struct compare *compare, size_t at)
{
	size_t depth = 0;

	for (; at < compare->count - 1; at++) {
		depth += is_char(compare, at, '(');
		if (is_char(compare, at, ')') && --depth == 0)
			return at + 1;
	}
	return at;
}

/* ---- the sides of an operator ---- */

static bool is_boundary(const struct compare *compare, size_t at)
{
	static const char *const words[] = {
		"AND",    "OR",       "NOT",     "WHERE",  "ON",     "HAVING",    "WHEN",  "THEN",
		"ELSE",   "CASE",     "END",     "FROM",   "BY",     "GROUP",     "ORDER", "LIMIT",
		"SELECT", "DISTINCT", "UNION",   "JOIN",   "LEFT",   "INNER",     "CROSS", "AS",
		"RIGHT",  "FULL",     "NATURAL", "EXCEPT", "WINDOW", "INTERSECT", NULL
	};

	return is_one_of(compare, at, ",;") || is_any(compare, at, words);
}

/* Back from `at`, which is no part of it. */
static size_t left_of(const struct compare *compare, size_t at)
{
	size_t least = at > SIDE_MAX ? at - SIDE_MAX : 0;
	size_t depth = 0;

	for (; at > least; at--) {
		if (depth == 0 && (is_char(compare, at - 1, '(') || is_boundary(compare, at - 1)))
			break;
		depth += is_char(compare, at - 1, ')');
		depth -= is_char(compare, at - 1, '(');
	}
	return at;
}

/* `both`: one AND is a part of it, that of BETWEEN. */
static size_t right_of(const struct compare *compare, size_t at, bool both)
{
	size_t most = size_min(compare->count - 1, at + SIDE_MAX);
	size_t depth = 0;

	for (; at < most; at++) {
		if (depth == 0 && both && is_word(compare, at, "AND")) {
			both = false;
			continue;
		}
		if (depth == 0 && (is_char(compare, at, ')') || is_boundary(compare, at)))
			break;
		depth += is_char(compare, at, '(');
		depth -= is_char(compare, at, ')');
	}
	return at;
}

/* ---- what stands on a side ---- */

static bool is_same(const struct compare *compare, size_t a, size_t b)
{
	const struct token *first = &compare->tokens[a];
	const struct token *second = &compare->tokens[b];

	return first->kind == second->kind && first->len == second->len &&
	       memcmp(compare->lexer.text + first->at, compare->lexer.text + second->at,
		      first->len) == 0;
}

/* The first parameter of its name; each "?" is one of its own. */
static size_t first_of(const struct compare *compare, size_t at)
{
	for (size_t i = 0; i < at && compare->tokens[at].len > 1; i++)
		if (is_same(compare, i, at))
			return i;
	return at;
}

static bool is_numeric_param(const struct compare *compare, size_t at)
{
	const char *text = compare->lexer.text + compare->tokens[at].at;
	size_t first = first_of(compare, at);
	const json_t *value;
	size_t index = 0;

	for (size_t i = 0; i < first; i++)
		index += compare->tokens[i].kind == TOKEN_PARAM && first_of(compare, i) == i;
	if (*text == '?' && compare->tokens[at].len > 1)
		index = strtoul(text + 1, NULL, 10) - 1;
	value = json_array_get(compare->params, index);
	return json_is_number(value) || json_is_boolean(value);
}

/*
 * Columns of one name may be texts in one file and numbers in another. `mark`: they are compared.
 * False: no column has the name.
 */
static bool look_at_named(const struct compare *compare, const char *name, bool mark,
			  struct side *side)
{
	bool found = false;

	for (size_t s = 0; s < compare->sheet_count; s++) {
		struct sheet *sheet = compare->sheets[s];

		for (size_t i = 0; sheet->used && i < sheet->count; i++) {
			struct column *column = &sheet->columns[i];
			bool text = column->verdict.type == INFER_TYPE_TEXT;

			if (!column->wanted || strcasecmp(column->name, name) != 0)
				continue;
			side->text = side->text || text;
			side->number = side->number || !text;
			column->compared = column->compared || (mark && text);
			found = true;
		}
	}
	return found;
}

static bool look_at_columns(const struct compare *compare, size_t at, bool mark, struct side *side)
{
	cleanup_free char *name = token_name(&compare->lexer, &compare->tokens[at]);

	return look_at_named(compare, name, mark, side);
}

/* What a call gives whose name stands at `at`; the arguments are looked at when that is theirs. */
static bool gives_its_arguments(const struct compare *compare, size_t at, struct side *side)
{
	static const char *const numbers[] = { "count", "sum",   "avg",   "total",  "length",
					       "abs",   "round", "instr", "median", NULL };
	static const char *const same[] = { "coalesce",   "ifnull", "iif",       "nullif",
					    "max",        "min",    "trim",      "ltrim",
					    "rtrim",      "in",     "any_value", "first_value",
					    "last_value", "lag",    "lead",      "between",
					    "values",     NULL };

	side->number = side->number || is_any(compare, at, numbers);
	return is_any(compare, at, same);
}

/* CAST(v AS REAL) is a number. */
static bool casts_to_number(const struct compare *compare, size_t at, size_t end)
{
	static const char *const types[] = { "REAL",   "INTEGER", "INT",    "NUMERIC", "FLOAT",
					     "DOUBLE", "DECIMAL", "BIGINT", "BOOLEAN", NULL };

	for (; at + 1 < end; at++)
		if (is_word(compare, at, "AS") && is_any(compare, at + 1, types))
			return true;
	return false;
}

/* Where it goes on behind what gives no value: FROM up to the bracket, WHEN up to THEN. */
static size_t behind_conditions(const struct compare *compare, size_t at, size_t end)
{
	bool when = is_word(compare, at, "WHEN");
	size_t depth = 0;

	if (!when && !is_word(compare, at, "FROM"))
		return at;
	for (; at < end && !(when && is_word(compare, at, "THEN")); at++) {
		if (depth == 0 && is_char(compare, at, ')'))
			break;
		depth += is_char(compare, at, '(');
		depth -= is_char(compare, at, ')');
	}
	return at;
}

static void look_at_side(const struct compare *compare, bool mark, unsigned aliases,
			 struct side *side);

/* What was written before "AS name". */
static void look_at_alias(const struct compare *compare, size_t at, bool mark, unsigned aliases,
			  struct side *side)
{
	for (size_t i = 1; aliases > 0 && i + 1 < compare->count - 1; i++) {
		struct side meant = { .begin = i, .end = i };

		if (!is_word(compare, i, "AS") || !is_same(compare, i + 1, at))
			continue;
		meant.begin = left_of(compare, i);
		look_at_side(compare, mark, aliases - 1, &meant);
		side->text = side->text || meant.text;
		side->number = side->number || meant.number;
	}
}

/* A call that is passed over; what follows it. `at` itself when it is looked into. */
static size_t behind_call(const struct compare *compare, size_t at, struct side *side)
{
	size_t next;

	if (gives_its_arguments(compare, at, side))
		return at;
	next = behind_brackets(compare, at + 1);
	if (is_word(compare, at, "CAST"))
		side->number = side->number || casts_to_number(compare, at, next);
	return next;
}

static void look(const struct compare *compare, bool mark, unsigned aliases, struct side *side)
{
	for (size_t at = side->begin; at < side->end;) {
		const struct token *token = &compare->tokens[at];
		bool named = token->kind == TOKEN_WORD || token->kind == TOKEN_QUOTED;
		bool call = named && is_char(compare, at + 1, '(');
		size_t next = call ? behind_call(compare, at, side)
				   : behind_conditions(compare, at, side->end);

		if (next > at) {
			at = next;
			continue;
		}
		if (token->kind == TOKEN_NUMBER ||
		    (token->kind == TOKEN_PARAM && is_numeric_param(compare, at)))
			side->number = true;
		else if (named && !call && !is_char(compare, at + 1, '.') &&
			 !look_at_columns(compare, at, mark, side))
			look_at_alias(compare, at, mark, aliases, side);
		at++;
	}
}

/* v + 0 is a number, whatever v is. */
static bool is_sum(const struct compare *compare, const struct side *side)
{
	size_t depth = 0;

	for (size_t at = side->begin; at < side->end; at++) {
		depth += is_char(compare, at, '(');
		depth -= depth > 0 && is_char(compare, at, ')');
		if (depth == 0 && at > side->begin && is_one_of(compare, at, "+-*/%"))
			return true;
	}
	return false;
}

static void look_at_side(const struct compare *compare, bool mark, unsigned aliases,
			 struct side *side)
{
	if (is_sum(compare, side)) {
		side->number = true;
		return;
	}
	look(compare, mark, aliases, side);
}

static void look_at_both(const struct compare *compare, struct side *a, struct side *b)
{
	look_at_side(compare, false, ALIASES_MAX, a);
	look_at_side(compare, false, ALIASES_MAX, b);
	if (a->text && b->number)
		look_at_side(compare, true, ALIASES_MAX, a);
	if (b->text && a->number)
		look_at_side(compare, true, ALIASES_MAX, b);
}

/* ---- the operators ---- */

/* The first token behind the operator at `at`; `at` itself when there is none. */
static size_t behind_operator(const struct compare *compare, size_t at)
{
	static const char *const words[] = { "IN", "BETWEEN", "IS", NULL };
	size_t end = at;

	while (is_one_of(compare, end, "<>=!"))
		end++;
	if (end == at && is_any(compare, at, words))
		end = at + 1;
	return end;
}

static void look_at_operator(const struct compare *compare, size_t at, size_t behind)
{
	size_t left = at > 0 && is_word(compare, at - 1, "NOT") ? at - 1 : at;
	bool is = is_word(compare, at, "IS");
	struct side a = { .begin = left_of(compare, left), .end = left };
	struct side b = { .begin = behind + (is && is_word(compare, behind, "NOT")) };

	b.end = right_of(compare, b.begin, is_word(compare, at, "BETWEEN"));
	look_at_both(compare, &a, &b);
}

/* CASE v WHEN 9 THEN */
static void look_at_case(const struct compare *compare, size_t at)
{
	struct side a = { .begin = at + 1, .end = right_of(compare, at + 1, false) };

	for (size_t when = a.end; a.end > a.begin && is_word(compare, when, "WHEN");) {
		struct side b = { .begin = when + 1, .end = right_of(compare, when + 1, false) };

		look_at_both(compare, &a, &b);
		when = b.end;
		while (when < compare->count - 1 && !is_word(compare, when, "WHEN") &&
		       !is_word(compare, when, "END"))
			when++;
	}
}

/* A join by equal names. */
static void look_at_name(const struct compare *compare, const char *name)
{
	struct side side = { .begin = 0 };

	(void)look_at_named(compare, name, false, &side);
	if (side.text && side.number)
		(void)look_at_named(compare, name, true, &side);
}

/* JOIN ... USING (v) */
static void look_at_using(const struct compare *compare, size_t at)
{
	size_t end = behind_brackets(compare, at + 1);

	for (size_t i = at + 1; i < end; i++) {
		cleanup_free char *name = NULL;

		if (compare->tokens[i].kind != TOKEN_WORD &&
		    compare->tokens[i].kind != TOKEN_QUOTED)
			continue;
		name = token_name(&compare->lexer, &compare->tokens[i]);
		look_at_name(compare, name);
	}
}

/* NATURAL JOIN: all columns that have their names in another file, too. */
static void look_at_natural(const struct compare *compare)
{
	for (size_t s = 0; s < compare->sheet_count; s++)
		for (size_t i = 0; i < compare->sheets[s]->count; i++)
			if (compare->sheets[s]->used)
				look_at_name(compare, compare->sheets[s]->columns[i].name);
}

/* ---- columns that are conditions by themselves ---- */

/* The AND of BETWEEN is in the same operand, so to say. */
static bool begins_condition(const struct compare *compare, size_t at)
{
	static const char *const words[] = { "WHERE", "AND",    "OR",   "NOT",
					     "ON",    "HAVING", "WHEN", NULL };

	if (at == 0 || !is_any(compare, at - 1, words))
		return false;
	for (size_t i = left_of(compare, at - 1); i < at; i++)
		if (is_word(compare, i, "BETWEEN"))
			return false;
	return true;
}

static bool ends_condition(const struct compare *compare, size_t at)
{
	static const char *const words[] = { "AND",   "OR",    "THEN",   "GROUP",     "ORDER",
					     "LIMIT", "UNION", "HAVING", "INTERSECT", "EXCEPT",
					     "WHERE", "JOIN",  NULL };

	return compare->tokens[at].kind == TOKEN_END || is_one_of(compare, at, ");") ||
	       is_any(compare, at, words);
}

/* WHERE v, NOT v */
static void look_at_condition(const struct compare *compare, size_t at)
{
	size_t name = is_char(compare, at + 1, '.') ? at + 2 : at;
	cleanup_free char *text = NULL;

	if (name + 1 >= compare->count || !begins_condition(compare, at) ||
	    !ends_condition(compare, name + 1))
		return;
	text = token_name(&compare->lexer, &compare->tokens[name]);
	for (size_t s = 0; s < compare->sheet_count; s++)
		for (size_t i = 0; i < compare->sheets[s]->count; i++) {
			struct column *column = &compare->sheets[s]->columns[i];

			if (column->wanted && column->verdict.type == INFER_TYPE_TEXT &&
			    strcasecmp(column->name, text) == 0)
				column->condition = true;
		}
}

void compare_mark(const struct query *query, struct sheet *const *sheets, size_t count)
{
	struct compare compare = { .params = query->params,
				   .sheets = sheets,
				   .sheet_count = count };

	token_start(&compare.lexer, SQL_SQLITE, query->text, query->len);
	read_tokens(&compare);
	for (size_t at = 0; at < compare.count - 1; at++) {
		size_t behind = behind_operator(&compare, at);

		if (behind > at) {
			look_at_operator(&compare, at, behind);
			at = behind - 1;
		} else if (is_word(&compare, at, "CASE")) {
			look_at_case(&compare, at);
		} else if (is_word(&compare, at, "USING")) {
			look_at_using(&compare, at);
		} else if (is_word(&compare, at, "NATURAL")) {
			look_at_natural(&compare);
		} else if (compare.tokens[at].kind == TOKEN_WORD ||
			   compare.tokens[at].kind == TOKEN_QUOTED) {
			look_at_condition(&compare, at);
		}
	}
	free(compare.tokens);
}
