/* SPDX-License-Identifier: MIT */
/* clause.h - a query as its tokens, and where the operands of its operators begin and end. */
#ifndef SQL_CLAUSE_H
#define SQL_CLAUSE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "query.h"
#include "sql/token.h"

struct clause {
	struct lexer lexer;
	struct token *tokens; /* the last one is TOKEN_END */
	size_t count;
	/*
	 * For each token: the first token with its text; the next one, 0 for none; the bracket
	 * around it, 0 for none. For an opening bracket: the token behind the closing one.
	 */
	size_t *firsts;
	size_t *nexts;
	size_t *brackets;
	size_t *behinds;
	const json_t *params;
};

/* Reads the query, which is borrowed. A token that cannot be read ends the list. */
void clause_init(struct clause *clause, const struct query *query);
void clause_release(struct clause *clause);

bool clause_is(const struct clause *clause, size_t at, const char *word);
bool clause_is_char(const struct clause *clause, size_t at, char c);
/* Returns true when the token is one of `words`, which end with NULL. */
bool clause_is_any(const struct clause *clause, size_t at, const char *const *words);
/* Returns true when the token is one of these characters. */
bool clause_is_one_of(const struct clause *clause, size_t at, const char *chars);
/* Returns true for a plain name, a quoted name or a keyword. */
bool clause_is_name(const struct clause *clause, size_t at);
/* Returns true when both tokens have the same text. */
bool clause_is_same(const struct clause *clause, size_t a, size_t b);
/* Returns the value of the parameter at `at`, borrowed; NULL for none. */
const json_t *clause_param(const struct clause *clause, size_t at);

/*
 * Returns the text that the query has at `at`, also as a parameter. The caller frees it. NULL for
 * none.
 */
char *clause_text(const struct clause *clause, size_t at);

/* Returns the token behind the bracket that closes the one at `at`. */
size_t clause_behind_brackets(const struct clause *clause, size_t at);
/* Returns the bracket around `at`; 0 for none. */
size_t clause_bracket_of(const struct clause *clause, size_t at);
/*
 * Returns where the operand before `at` begins. The second function returns where the operand that
 * begins at `at` ends; with `both`, one AND belongs to it, that of BETWEEN.
 */
size_t clause_left_of(const struct clause *clause, size_t at);
size_t clause_right_of(const struct clause *clause, size_t at, bool both);
/*
 * Returns the first token behind the comparison operator at `at`, or behind -> and ->>. Returns
 * `at` when there is none.
 */
size_t clause_behind_operator(const struct clause *clause, size_t at);
/* Returns true when a condition begins at `at`, or ends before it. */
bool clause_begins_condition(const struct clause *clause, size_t at);
bool clause_ends_condition(const struct clause *clause, size_t at);
/*
 * Returns the token behind the token at `at`, or behind the brackets or the CASE that begin there.
 */
size_t clause_behind_part(const struct clause *clause, size_t at);
/*
 * Returns true when the tokens between form a condition, as v = 9 does, whose value is true or
 * false.
 */
bool clause_has_condition(const struct clause *clause, size_t begin, size_t end);
/*
 * Returns the token behind the END of the CASE at `at`. Returns `at` when no complete CASE begins
 * there.
 */
size_t clause_behind_case(const struct clause *clause, size_t at);
/* Returns true for a comma, a semicolon, or a word that ends an operand. */
bool clause_is_boundary(const struct clause *clause, size_t at);

#endif
