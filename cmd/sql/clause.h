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
	struct token *tokens; /* an end is the last */
	size_t count;
	/* Of each token: the first one with its text, the next one, 0 for none; the bracket that it
	 * stands in, 0 for none; of a bracket that opens the token behind the one that closes it.
	 */
	size_t *firsts;
	size_t *nexts;
	size_t *brackets;
	size_t *behinds;
	const json_t *params;
};

/* The query is borrowed. What cannot be read ends the tokens. */
void clause_init(struct clause *clause, const struct query *query);
void clause_release(struct clause *clause);

bool clause_is(const struct clause *clause, size_t at, const char *word);
bool clause_is_char(const struct clause *clause, size_t at, char c);
/* One of these words, up to NULL. */
bool clause_is_any(const struct clause *clause, size_t at, const char *const *words);
/* One of these characters. */
bool clause_is_one_of(const struct clause *clause, size_t at, const char *chars);
/* A plain or quoted name, or a keyword. */
bool clause_is_name(const struct clause *clause, size_t at);
bool clause_is_same(const struct clause *clause, size_t a, size_t b);
/* The value of the parameter at `at`, borrowed; NULL is allowed as one. */
const json_t *clause_param(const struct clause *clause, size_t at);

/* The text that the query has at `at`, or as a parameter there, the caller's; NULL for none. */
char *clause_text(const struct clause *clause, size_t at);

/* The token behind the bracket that ends what the one at `at` begins. */
size_t clause_behind_brackets(const struct clause *clause, size_t at);
/* The bracket that `at` stands in; 0 for none. */
size_t clause_bracket_of(const struct clause *clause, size_t at);
/* Where the operand before `at` begins, and where the one that begins there ends. `both`: one AND
 * is a part of it, that of BETWEEN. */
size_t clause_left_of(const struct clause *clause, size_t at);
size_t clause_right_of(const struct clause *clause, size_t at, bool both);
/* The first token behind the operator that compares at `at`, or behind -> and ->>; `at` itself for
 * none. */
size_t clause_behind_operator(const struct clause *clause, size_t at);
/* Whether a condition of its own begins there, or ends before it. */
bool clause_begins_condition(const struct clause *clause, size_t at);
bool clause_ends_condition(const struct clause *clause, size_t at);
/* Behind the token at `at`, or behind the brackets or the CASE that begin there. */
size_t clause_behind_part(const struct clause *clause, size_t at);
/* Whether what stands between is true or false, as v = 9 is, whatever v is. */
bool clause_has_condition(const struct clause *clause, size_t begin, size_t end);
/* The token behind the END of the CASE at `at`; `at` itself where no CASE begins that ends. */
size_t clause_behind_case(const struct clause *clause, size_t at);
/* ROWS BETWEEN 6 PRECEDING AND CURRENT ROW, of a window: its BETWEEN compares nothing. */
bool clause_begins_frame(const struct clause *clause, size_t at);
/* A comma, semicolon, or a word that ends an operand. */
bool clause_is_boundary(const struct clause *clause, size_t at);

#endif
