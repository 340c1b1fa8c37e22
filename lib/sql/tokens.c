/* SPDX-License-Identifier: MIT */
/*
 * tokens.c - reads a whole query before it is checked, because many rules look ahead or back. Pairs
 * of parentheses are matched in one pass; a rule can then skip a group at once, which keeps the
 * guard linear.
 */
#include "sql/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FEW = 64 };

const struct token *tokens_at(const struct tokens *t, size_t i)
{
	static const struct token end = { .kind = TOKEN_END };

	return i < t->count ? &t->tokens[i] : &end;
}

bool tokens_is(const struct tokens *t, size_t i, const char *word)
{
	return token_is(&t->lexer, tokens_at(t, i), word);
}

bool tokens_is_char(const struct tokens *t, size_t i, char c)
{
	return token_is_char(&t->lexer, tokens_at(t, i), c);
}

bool tokens_is_any(const struct tokens *t, size_t i, const char *const *words)
{
	for (; *words != NULL; words++)
		if (tokens_is(t, i, *words))
			return true;
	return false;
}

static int read_all(struct tokens *t, struct err *err)
{
	struct token token;

	for (;;) {
		if (token_next(&t->lexer, &token, err) < 0)
			return -1;
		if (token.kind == TOKEN_END)
			return 0;
		if (t->count == t->cap) {
			t->cap = t->cap == 0 ? FEW : 2 * t->cap;
			t->tokens = xrealloc(t->tokens, t->cap * sizeof(*t->tokens));
		}
		t->tokens[t->count++] = token;
	}
}

/* Drops semicolons at both ends; a leading one is common in T-SQL. */
static void drop_semicolons(struct tokens *t)
{
	size_t front = 0;

	while (tokens_is_char(t, front, ';'))
		front++;
	t->count -= front;
	if (front > 0)
		memmove(t->tokens, t->tokens + front, t->count * sizeof(*t->tokens));
	while (t->count > 0 && tokens_is_char(t, t->count - 1, ';'))
		t->count--;
}

/*
 * An open parenthesis extends to the end of the text. While it is open, its entry holds the place
 * of the one around it.
 */
static void match_groups(struct tokens *t)
{
	size_t open = t->count;

	for (size_t i = 0; i < t->count; i++) {
		if (tokens_is_char(t, i, '(')) {
			t->behind[i] = open;
			open = i;
		} else if (tokens_is_char(t, i, ')') && open < t->count) {
			size_t outer = t->behind[open];

			t->behind[open] = i + 1;
			open = outer;
		}
	}
	while (open < t->count) {
		size_t outer = t->behind[open];

		t->behind[open] = t->count;
		open = outer;
	}
}

int tokens_read(struct tokens *t, struct err *err)
{
	if (read_all(t, err) < 0)
		return -1;
	drop_semicolons(t);
	t->behind = xcalloc(t->count + 1, sizeof(*t->behind));
	t->named = xcalloc(t->count + 1, sizeof(*t->named));
	t->looked_at = xcalloc(1, sizeof(*t->looked_at));
	match_groups(t);
	return 0;
}

void tokens_release(struct tokens *t)
{
	free(t->tokens);
	free(t->behind);
	free(t->named);
	free(t->looked_at);
}
