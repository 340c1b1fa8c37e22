/* SPDX-License-Identifier: MIT */
/*
 * token.h - SQL text as tokens, by the rules of one dialect.
 *
 * Blanks and comments are skipped. Text that databases read differently is ambiguous in SQL_GENERIC
 * and refused there: a backslash before a quote, a comment in a comment, "--" without a blank
 * behind, "#" outside names, q'...', MySQL's executed comments. SQL_MYSQL, where a mode decides the
 * meaning of "...", has some of these rules. There and in T-SQL a character beyond ASCII may stand
 * outside quotes and comments only as a letter.
 */
#ifndef SQL_TOKEN_H
#define SQL_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "sql/sql_dialect.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* a keyword or a plain name */
	TOKEN_QUOTED, /* a quoted or bracketed name */
	TOKEN_STRING,
	TOKEN_NUMBER,
	TOKEN_PARAM, /* ? $1 :name @name */
	TOKEN_OTHER, /* one character of punctuation */
};

struct token {
	enum token_kind kind;
	size_t at;
	size_t len;
};

struct lexer {
	const char *text;
	size_t len;
	size_t at;
	enum sql_dialect dialect;
	bool escapes; /* the token before was E'...', which a string behind it continues */
};

/* Starts a lexer. The text is borrowed. */
void token_start(struct lexer *lexer, enum sql_dialect dialect, const char *text, size_t len);
/*
 * Reads the next token. Returns -1 and sets ERR_INVALID for text that does not end where it should
 * or has two readings.
 */
int token_next(struct lexer *lexer, struct token *ret, struct err *err) MUST_CHECK;
/* Returns whether it is this word, unquoted, in any case. */
bool token_is(const struct lexer *lexer, const struct token *token, const char *word);
/* Returns whether it is this one character. */
bool token_is_char(const struct lexer *lexer, const struct token *token, char c);
/* Returns a name without its quotes; doubled ones are made single. The caller frees it. */
char *token_name(const struct lexer *lexer, const struct token *token);
/* Returns the text as token_name does, also of a TOKEN_STRING. */
char *token_text(const struct lexer *lexer, const struct token *token);
/*
 * Appends the text with a plain blank for each U+00A0, U+3000 and byte order mark outside quotes
 * and comments. Editors and keyboards leave these, and most databases take them for letters. Each
 * is one character, so places do not change.
 */
void token_plain_blanks(enum sql_dialect dialect, const char *text, size_t len, struct buf *out);
/* Sets "line 2, column 7" for a position in the text, counted in characters from 1. */
void token_place(const struct lexer *lexer, size_t at, size_t *ret_line, size_t *ret_column);

#endif
