/* SPDX-License-Identifier: MIT */
/* tokens.h - all tokens of a text (token.h), without semicolons around it. */
#ifndef SQL_TOKENS_H
#define SQL_TOKENS_H

#include "sql/token.h"

struct tokens {
	struct lexer lexer;
	struct token *tokens;
	size_t *behind;    /* for each "(" the token behind its ")" */
	bool *named;       /* the tokens that are names of CTEs, once somebody has found them */
	size_t *looked_at; /* how many tokens attribute.c has looked at */
	size_t count;
	size_t cap;
};

/* Reads what `lexer` was started with; the rest is zero. To be released after a failure, too. */
int tokens_read(struct tokens *t, struct err *err) MUST_CHECK;
void tokens_release(struct tokens *t);
/* Behind the last one stands an end. */
const struct token *tokens_at(const struct tokens *t, size_t i);
/* Whether it is this word, one of these, this one character. */
bool tokens_is(const struct tokens *t, size_t i, const char *word);
bool tokens_is_any(const struct tokens *t, size_t i, const char *const *words);
bool tokens_is_char(const struct tokens *t, size_t i, char c);

#endif
