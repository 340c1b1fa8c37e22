/* SPDX-License-Identifier: MIT */
/*
 * clause.c - indexes the tokens of a query.
 *
 * Tokens are read once. Brackets are matched, and tokens of equal text are chained by a hash table,
 * so that other modules find a name's other places in constant time. Searches for operands stop
 * after SIDE_MAX tokens, which keeps long queries linear.
 */
#include "clause.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"

enum { TOKENS_MAX = 20000, SIDE_MAX = 200 };

static void read_tokens(struct clause *clause)
{
	struct token token = { .kind = TOKEN_OTHER };
	struct err err;

	while (token.kind != TOKEN_END) {
		if (clause->count == TOKENS_MAX || token_next(&clause->lexer, &token, &err) < 0)
			token = (struct token){ .kind = TOKEN_END };
		clause->tokens =
			xrealloc(clause->tokens, (clause->count + 1) * sizeof(*clause->tokens));
		clause->tokens[clause->count++] = token;
	}
}

static bool is_equal(const struct clause *clause, size_t a, size_t b)
{
	const struct token *first = &clause->tokens[a];
	const struct token *second = &clause->tokens[b];

	return first->kind == second->kind && first->len == second->len &&
	       memcmp(clause->lexer.text + first->at, clause->lexer.text + second->at,
		      first->len) == 0;
}

static size_t hash_token(const struct clause *clause, size_t at)
{
	const struct token *token = &clause->tokens[at];
	size_t hash = token->len;

	for (size_t i = 0; i < token->len; i++)
		hash = hash * 31 + (unsigned char)clause->lexer.text[token->at + i];
	return hash;
}

/* Chains the tokens of equal text. */
static void chain(struct clause *clause)
{
	size_t *slots = xcalloc(2 * clause->count, sizeof(*slots)); /* a first token, plus one */
	size_t *lasts = xcalloc(clause->count, sizeof(*lasts));     /* by the first token */

	for (size_t at = 0; at < clause->count; at++) {
		size_t slot = hash_token(clause, at) % (2 * clause->count);

		while (slots[slot] != 0 && !is_equal(clause, slots[slot] - 1, at))
			slot = (slot + 1) % (2 * clause->count);
		if (slots[slot] == 0)
			slots[slot] = at + 1;
		else
			clause->nexts[lasts[slots[slot] - 1]] = at;
		clause->firsts[at] = slots[slot] - 1;
		lasts[clause->firsts[at]] = at;
	}
	free(lasts);
	free(slots);
}

static void match_brackets(struct clause *clause)
{
	size_t open = 0;

	for (size_t at = 0; at < clause->count; at++) {
		clause->brackets[at] = open;
		clause->behinds[at] = clause->count - 1;
		if (clause_is_char(clause, at, '(')) {
			open = at;
		} else if (clause_is_char(clause, at, ')') && open > 0) {
			clause->behinds[open] = at + 1;
			open = clause->brackets[open];
			clause->brackets[at] = open;
		}
	}
}

void clause_init(struct clause *clause, const struct query *query)
{
	*clause = (struct clause){ .params = query->params };
	token_start(&clause->lexer, SQL_SQLITE, query->text, query->len);
	read_tokens(clause);
	clause->firsts = xcalloc(clause->count, sizeof(*clause->firsts));
	clause->nexts = xcalloc(clause->count, sizeof(*clause->nexts));
	clause->brackets = xcalloc(clause->count, sizeof(*clause->brackets));
	clause->behinds = xcalloc(clause->count, sizeof(*clause->behinds));
	chain(clause);
	match_brackets(clause);
}

void clause_release(struct clause *clause)
{
	free(clause->tokens);
	free(clause->firsts);
	free(clause->nexts);
	free(clause->brackets);
	free(clause->behinds);
}

bool clause_is(const struct clause *clause, size_t at, const char *word)
{
	return token_is(&clause->lexer, &clause->tokens[at], word);
}

bool clause_is_char(const struct clause *clause, size_t at, char c)
{
	return token_is_char(&clause->lexer, &clause->tokens[at], c);
}

bool clause_is_any(const struct clause *clause, size_t at, const char *const *words)
{
	for (; *words != NULL; words++)
		if (clause_is(clause, at, *words))
			return true;
	return false;
}

bool clause_is_one_of(const struct clause *clause, size_t at, const char *chars)
{
	for (; *chars != '\0'; chars++)
		if (clause_is_char(clause, at, *chars))
			return true;
	return false;
}

bool clause_is_name(const struct clause *clause, size_t at)
{
	return clause->tokens[at].kind == TOKEN_WORD || clause->tokens[at].kind == TOKEN_QUOTED;
}

bool clause_is_same(const struct clause *clause, size_t a, size_t b)
{
	return clause->firsts[a] == clause->firsts[b];
}

/* Returns the first parameter of this name; each "?" is its own. */
static size_t first_of(const struct clause *clause, size_t at)
{
	return clause->tokens[at].len > 1 ? clause->firsts[at] : at;
}

const json_t *clause_param(const struct clause *clause, size_t at)
{
	const char *text = clause->lexer.text + clause->tokens[at].at;
	size_t first = first_of(clause, at);
	size_t index = 0;

	for (size_t i = 0; i < first; i++)
		index += clause->tokens[i].kind == TOKEN_PARAM && first_of(clause, i) == i;
	if (*text == '?' && clause->tokens[at].len > 1)
		index = strtoul(text + 1, NULL, 10) - 1;
	return json_array_get(clause->params, index);
}

char *clause_text(const struct clause *clause, size_t at)
{
	const struct token *token = &clause->tokens[at];
	const char *value =
		token->kind == TOKEN_PARAM ? json_string_value(clause_param(clause, at)) : NULL;

	if (token->kind == TOKEN_STRING)
		return token_text(&clause->lexer, token);
	return value != NULL ? xstrdup(value) : NULL;
}

size_t clause_behind_brackets(const struct clause *clause, size_t at)
{
	return clause->behinds[at];
}

size_t clause_bracket_of(const struct clause *clause, size_t at)
{
	return clause->brackets[at];
}

/* Returns the token behind the one at `at`, or behind its brackets. */
static size_t behind_token(const struct clause *clause, size_t at)
{
	return clause_is_char(clause, at, '(') ? clause_behind_brackets(clause, at) : at + 1;
}

/*
 * Returns true for the frame of a window, ROWS BETWEEN 6 PRECEDING AND CURRENT ROW: its BETWEEN
 * compares nothing.
 */
static bool begins_frame(const struct clause *clause, size_t at)
{
	static const char *const words[] = { "ROWS", "RANGE", "GROUPS", NULL };
	static const char *const bounds[] = { "PRECEDING", "FOLLOWING", "CURRENT", NULL };
	size_t most = size_min(clause->count - 1, at + SIDE_MAX);

	if (!clause_is_any(clause, at, words))
		return false;
	for (at++; at < most; at = behind_token(clause, at)) {
		if (clause_is_any(clause, at, bounds))
			return true;
		if (clause_is(clause, at, "AND") || clause_is_one_of(clause, at, ",);"))
			break;
	}
	return false;
}

bool clause_is_boundary(const struct clause *clause, size_t at)
{
	static const char *const words[] = {
		"AND",    "OR",       "NOT",     "WHERE",  "ON",     "HAVING",    "WHEN",  "THEN",
		"ELSE",   "CASE",     "END",     "FROM",   "BY",     "GROUP",     "ORDER", "LIMIT",
		"SELECT", "DISTINCT", "UNION",   "JOIN",   "LEFT",   "INNER",     "CROSS", "AS",
		"RIGHT",  "FULL",     "NATURAL", "EXCEPT", "WINDOW", "INTERSECT", NULL
	};

	return clause_is_one_of(clause, at, ",;") || clause_is_any(clause, at, words) ||
	       begins_frame(clause, at);
}

/* Returns the END of the CASE at `at`, before `most`; `at` itself for none. */
static size_t end_of_case(const struct clause *clause, size_t at, size_t most)
{
	size_t depth = 0;

	for (size_t i = at; i < most; i++) {
		depth += clause_is(clause, i, "CASE");
		depth -= clause_is(clause, i, "END");
		if (depth == 0)
			return i;
	}
	return at;
}

/* Returns the CASE of the END at `at`, from `least` on; `at` itself for none. */
static size_t case_of_end(const struct clause *clause, size_t at, size_t least)
{
	size_t depth = 0;

	for (size_t i = at + 1; i-- > least;) {
		depth += clause_is(clause, i, "END");
		depth -= clause_is(clause, i, "CASE");
		if (depth == 0)
			return i;
	}
	return at;
}

size_t clause_behind_case(const struct clause *clause, size_t at)
{
	size_t end = end_of_case(clause, at, size_min(clause->count - 1, at + SIDE_MAX));

	return end > at ? end + 1 : at;
}

size_t clause_left_of(const struct clause *clause, size_t at)
{
	size_t least = at > SIDE_MAX ? at - SIDE_MAX : 0;
	size_t depth = 0;

	for (; at > least; at--) {
		size_t begin = depth == 0 ? case_of_end(clause, at - 1, least) : at - 1;

		if (begin < at - 1) {
			at = begin + 1;
			continue;
		}
		if (depth == 0 &&
		    (clause_is_char(clause, at - 1, '(') || clause_is_boundary(clause, at - 1)))
			break;
		depth += clause_is_char(clause, at - 1, ')');
		depth -= clause_is_char(clause, at - 1, '(');
	}
	return at;
}

size_t clause_right_of(const struct clause *clause, size_t at, bool both)
{
	size_t most = size_min(clause->count - 1, at + SIDE_MAX);
	size_t depth = 0;

	for (; at < most; at++) {
		size_t end = depth == 0 ? end_of_case(clause, at, most) : at;

		if (end > at) {
			at = end;
			continue;
		}
		if (depth == 0 && both && clause_is(clause, at, "AND")) {
			both = false;
			continue;
		}
		if (depth == 0 &&
		    (clause_is_char(clause, at, ')') || clause_is_boundary(clause, at)))
			break;
		depth += clause_is_char(clause, at, '(');
		depth -= clause_is_char(clause, at, ')');
	}
	return at;
}

size_t clause_behind_operator(const struct clause *clause, size_t at)
{
	static const char *const words[] = { "IN", "BETWEEN", "IS", NULL };
	size_t end = at;

	/* -> and ->> take a value from JSON. */
	if (clause_is_char(clause, at, '-') && clause_is_char(clause, at + 1, '>'))
		return at + 2 + clause_is_char(clause, at + 2, '>');
	while (clause_is_one_of(clause, end, "<>=!"))
		end++;
	if (end == at && clause_is_any(clause, at, words) &&
	    !(at > 0 && begins_frame(clause, at - 1)))
		end = at + 1;
	return end;
}

bool clause_begins_condition(const struct clause *clause, size_t at)
{
	static const char *const words[] = { "WHERE", "AND",    "OR",   "NOT",
					     "ON",    "HAVING", "WHEN", NULL };

	if (at > 1 && clause_is_char(clause, at - 1, '('))
		return clause_is(clause, at - 2, "iif");
	if (at == 0 || !clause_is_any(clause, at - 1, words) ||
	    (at > 1 && clause_is(clause, at - 2, "IS")))
		return false;
	/* The AND of BETWEEN does not begin a condition. */
	for (size_t i = clause_left_of(clause, at - 1); i < at; i++)
		if (clause_is(clause, i, "BETWEEN"))
			return false;
	return true;
}

bool clause_ends_condition(const struct clause *clause, size_t at)
{
	static const char *const words[] = { "AND",   "OR",    "THEN",   "GROUP",     "ORDER",
					     "LIMIT", "UNION", "HAVING", "INTERSECT", "EXCEPT",
					     "WHERE", "JOIN",  "FROM",   "AS",        NULL };

	return clause->tokens[at].kind == TOKEN_END || clause_is_one_of(clause, at, "),;") ||
	       clause_is_any(clause, at, words);
}

size_t clause_behind_part(const struct clause *clause, size_t at)
{
	size_t behind = clause_behind_case(clause, at);

	if (behind > at)
		return behind;
	return behind_token(clause, at);
}

bool clause_has_condition(const struct clause *clause, size_t begin, size_t end)
{
	static const char *const words[] = { "IS",  "IN", "LIKE", "GLOB",   "REGEXP", "BETWEEN",
					     "AND", "OR", "NOT",  "EXISTS", NULL };

	for (size_t at = begin; at < end; at = clause_behind_part(clause, at))
		if (clause_is_any(clause, at, words) ||
		    /* -> and ->> take a value from JSON. */
		    (clause_is_one_of(clause, at, "<>=!") &&
		     !(at > begin && clause_is_char(clause, at, '>') &&
		       clause_is_one_of(clause, at - 1, "->"))))
			return true;
	return false;
}
