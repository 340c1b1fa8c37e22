/* SPDX-License-Identifier: MIT */
/*
 * words.c - the words of shell code: quotes, expansions, arrays and patterns, to any depth. Some
 * constructs depend on bash's mode, such as quotes within ${...} in double quotes: these are not
 * followed.
 */
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

bool bash_next_is(const struct lexer *l, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(l->end - l->at) >= len && memcmp(l->at, text, len) == 0;
}

/* ---- pieces of words ---- */

/* All of these return the position after the construct, or NULL if it cannot be followed. */
static const char *skip_piece(struct lexer *l, const char *at, bool quoted);

static const char *skip_single(const struct lexer *l, const char *at)
{
	const char *quote = memchr(at, '\'', (size_t)(l->end - at));

	return quote != NULL ? quote + 1 : NULL;
}

/* Skips to after the first `quote` without a backslash before it. */
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

/*
 * Skips to after the first `close` outside of quotes and expansions. Each `open` before it needs a
 * `close` of its own.
 */
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

/* Skips the expansion after the dollar sign at at[-1]. */
static const char *skip_dollar(struct lexer *l, const char *at, bool quoted)
{
	if (at == l->end)
		return at;
	if (*at == '{')
		return skip_to(l, at + 1, '}', '}', quoted); /* braces do not nest there */
	if (*at == '[')
		return skip_to(l, at + 1, '[', ']', quoted);
	if (*at != '(')
		return at;
	if (at + 1 < l->end &&
	    at[1] == '(') /* also where it is no arithmetic: bash reads it in this way */
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

/*
 * Handles quotes within ${...} in double quotes. Their meaning depends on the text before them and
 * on bash's POSIX mode.
 */
static const char *skip_doubtful(const struct lexer *l, const char *at)
{
	for (; at < l->end && strchr("}\"\\$`\n", *at) == NULL; at++)
		if (*at == '\'')
			return at + 1;
	return NULL;
}

/* Skips one quoted or expanded piece, or one character. */
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

/* Skips the words and comments of name=( ... ), whose first parenthesis is at `at`. */
static const char *skip_array(struct lexer *l, const char *at)
{
	bool begins = true; /* a word: there a number sign begins a comment */

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

/* Skips a parenthesis within a word: of an array, or of a pattern such as @(a|b). */
static const char *skip_inner(struct lexer *l, const char *start, const char *at)
{
	if (at[-1] == '=')
		return skip_array(l, at);
	if (strchr("?*+@", at[-1]) != NULL || (at[-1] == '!' && (!l->begins || at - start > 1)))
		return bash_skip_parentheses(l, at);
	return at;
}

/* Returns true if an array index begins at `at`, in an assignment at the start of a command. */
static bool is_index(const struct lexer *l, const char *start, const char *at)
{
	if (*at != '[' || at == start || !l->begins || isdigit((unsigned char)*start))
		return false;
	while (start < at && (isalnum((unsigned char)*start) || *start == '_'))
		start++;
	return start == at;
}

/* Reads a word. Returns false if its end cannot be found. */
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
