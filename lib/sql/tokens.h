/* SPDX-License-Identifier: MIT */
/* tokens.h - all tokens of a text (token.h), without semicolons around it. */
#ifndef SQL_TOKENS_H
#define SQL_TOKENS_H

#include "sql/token.h"

struct tokens {
	struct lexer lexer;
	struct token *tokens;
	size_t *behind;    /* for each "(" the token behind its ")" */
	bool *named;       /* the tokens that are names of CTEs, once they were found */
	size_t *looked_at; /* how many tokens attribute.c has examined */
	size_t count;
	size_t cap;
};

/*
 * Reads the text that `lexer` was started with; the other members must be zero. The caller releases
 * the tokens, also after a failure. Returns -1 and sets *err.
 */
int tokens_read(struct tokens *t, struct err *err) MUST_CHECK;
void tokens_release(struct tokens *t);
/* Returns token `i`; TOKEN_END behind the last one. */
const struct token *tokens_at(const struct tokens *t, size_t i);
/* Return whether it is this word, one of these, this one character. */
bool tokens_is(const struct tokens *t, size_t i, const char *word);
bool tokens_is_any(const struct tokens *t, size_t i, const char *const *words);
bool tokens_is_char(const struct tokens *t, size_t i, char c);

#endif
