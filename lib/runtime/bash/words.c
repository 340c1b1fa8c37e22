/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "runtime/bash/lexer.h"

bool bash_ends_word(char c)
{
	return lexer_is_blank(c) || strchr("\n;&|()<>", c) != NULL;
}

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || strchr("_./:@%+=,-[]!{}^", c) != NULL;
}

bool bash_word_is(const struct word *word, const char *text)
{
	return word->len == strlen(text) && memcmp(word->start, text, word->len) == 0;
}

bool bash_word_in(const struct word *word, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		if (bash_word_is(word, *texts))
			return true;
	return false;
}

bool bash_word_begins(const struct word *word, const char *text)
{
	return word->len >= strlen(text) && memcmp(word->start, text, strlen(text)) == 0;
}

bool bash_next_is(const struct lexer *l, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(l->end - l->at) >= len && memcmp(l->at, text, len) == 0;
}

/* ---- pieces of words ---- */

/* All of these return what follows, or NULL where this cannot be told. */
static const char *skip_piece(struct lexer *l, const char *at, bool quoted);

static const char *skip_single(const struct lexer *l, const char *at)
{
	const char *quote = memchr(at, '\'', (size_t)(l->end - at));

	return quote != NULL ? quote + 1 : NULL;
}

/* To behind the first `quote` that no backslash is before. */
static const char *skip_escaped(const struct lexer *l, const char *at, char quote)
{
	while (at < l->end && *at != quote) {
		if (*at == '\\' && at + 1 < l->end)
			at++;
		at++;
	}
	return at < l->end ? at + 1 : NULL;
}

static const char *skip_backquoted(struct lexer *l, const char *at)
{
	const char *behind = skip_escaped(l, at, '`');

	if (behind != NULL && memchr(at, '\\', (size_t)(behind - at)) == NULL)
		bash_look_into(l, at, behind - 1);
	return behind;
}

/* To behind the first `close` that is in no piece of its own, but for those of each `open` before
 * it. */
static const char *skip_to(struct lexer *l, const char *at, char open, char close, bool quoted)
{
	unsigned int count = 1;

	if (l->nested >= LEXER_DEPTH_MAX)
		return NULL;
	l->nested++;
	while (at != NULL && at < l->end && count > 0) {
		if (*at == close)
			count--;
		else if (*at == open)
			count++;
		at = *at == open || *at == close ? at + 1 : skip_piece(l, at, quoted);
	}
	l->nested--;
	return count == 0 ? at : NULL;
}

const char *bash_skip_parentheses(struct lexer *l, const char *at)
{
	return skip_to(l, at + 1, '(', ')', false);
}

/* What follows a dollar sign, which is at[-1]. */
static const char *skip_dollar(struct lexer *l, const char *at, bool quoted)
{
	if (at == l->end)
		return at;
	if (*at == '{')
		return skip_to(l, at + 1, '}', '}', quoted); /* a brace opens nothing there */
	if (*at == '[')
		return skip_to(l, at + 1, '[', ']', quoted);
	if (*at != '(')
		return at;
	if (at + 1 < l->end && at[1] == '(') /* also where it is no arithmetic: so bash reads it */
		return bash_skip_parentheses(l, at);
	return bash_skip_commands(l, at + 1);
}

static const char *skip_double(struct lexer *l, const char *at)
{
	while (at != NULL && at < l->end && *at != '"') {
		if (*at == '\\')
			at = at + 1 < l->end ? at + 2 : NULL;
		else if (*at == '`')
			at = skip_backquoted(l, at + 1);
		else if (*at == '$')
			at = skip_dollar(l, at + 1, true);
		else
			at++;
	}
	return at != NULL && at < l->end ? at + 1 : NULL;
}

/* Quotes within ${...} in double quotes: whether they are such depends on what stands before, and
 * on bash's POSIX mode. */
static const char *skip_doubtful(const struct lexer *l, const char *at)
{
	for (; at < l->end && strchr("}\"\\$`\n", *at) == NULL; at++)
		if (*at == '\'')
			return at + 1;
	return NULL;
}

/* One quoted or expanded piece, or one character. */
static const char *skip_piece(struct lexer *l, const char *at, bool quoted)
{
	switch (*at) {
	case '\\':
		return at + 1 < l->end ? at + 2 : NULL;
	case '\'':
		return quoted ? skip_doubtful(l, at + 1) : skip_single(l, at + 1);
	case '"':
		return skip_double(l, at + 1);
	case '`':
		return skip_backquoted(l, at + 1);
	case '$':
		if (at + 1 < l->end && at[1] == '\'' && !quoted)
			return skip_escaped(l, at + 2, '\'');
		return skip_dollar(l, at + 1, quoted);
	default:
		return at + 1;
	}
}

/* ---- words ---- */

/* name=( ... ), whose first parenthesis is at `at`: words and comments. */
static const char *skip_array(struct lexer *l, const char *at)
{
	bool begins = true; /* a word: a number sign there begins a comment */

	at++;
	while (at != NULL && at < l->end && *at != ')') {
		if (*at == '#' && begins)
			at = memchr(at, '\n', (size_t)(l->end - at));
		else if (*at == '(')
			at = at[-1] == '<' || at[-1] == '>' ? bash_skip_commands(l, at + 1) : NULL;
		else {
			begins = bash_ends_word(*at);
			at = skip_piece(l, at, false);
		}
	}
	return at != NULL && at < l->end ? at + 1 : NULL;
}

/* What a parenthesis within a word holds: that of an array, or of a pattern such as @(a|b). */
static const char *skip_inner(struct lexer *l, const char *start, const char *at)
{
	if (at[-1] == '=')
		return skip_array(l, at);
	if (strchr("?*+@", at[-1]) != NULL || (at[-1] == '!' && (!l->begins || at - start > 1)))
		return bash_skip_parentheses(l, at);
	return at;
}

/* Whether what begins at `at` is the index of an array that a command's first word changes. */
static bool is_index(const struct lexer *l, const char *start, const char *at)
{
	if (*at != '[' || at == start || !l->begins || isdigit((unsigned char)*start))
		return false;
	while (start < at && (isalnum((unsigned char)*start) || *start == '_'))
		start++;
	return start == at;
}

/* Takes a word; false where its end cannot be told. */
bool bash_take_word(struct lexer *l, struct word *ret)
{
	size_t marks = l->marks->count;
	const char *at = l->at;

	*ret = (struct word){ .start = at, .plain = true };
	while (at != NULL && at < l->end && !bash_ends_word(*at)) {
		ret->plain = ret->plain && is_plain(*at);
		at = is_index(l, ret->start, at) ? skip_to(l, at + 1, '[', ']', false)
						 : skip_piece(l, at, false);
		if (at != NULL && at < l->end && *at == '(') {
			const char *behind = skip_inner(l, ret->start, at);

			ret->plain = ret->plain && behind == at;
			at = behind;
		}
	}
	if (at == NULL || at > l->end) {
		l->marks->count = marks;
		return false;
	}
	ret->len = (size_t)(at - ret->start);
	l->at = at;
	return true;
}
