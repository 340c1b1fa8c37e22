/* SPDX-License-Identifier: MIT */
/*
 * token.c - a lexer for five dialects. A guard that reads a string's end elsewhere than the
 * database would check other words than those that run, so text with two readings is refused
 * instead of decided. T-SQL and MySQL have the most such cases, each named where it is handled.
 */
#include "sql/token.h"

#include <string.h>
#include <strings.h>

#include "base/chars.h"
#include "base/mem.h"
#include "base/util.h"
#include "text/identifier.h"

static const char *const bracketing[] = {
	/* Characters that open a quoted name. */
	[SQL_TSQL] = "\"[",  [SQL_POSTGRESQL] = "\"", [SQL_SQLITE] = "\"`[",
	[SQL_MYSQL] = "\"`", [SQL_GENERIC] = "\"`",
};

/* Text behind the end reads as NUL, which a query does not contain. */
static char peek(const struct lexer *lexer, size_t ahead)
{
	return lexer->at + ahead < lexer->len ? lexer->text[lexer->at + ahead] : '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Every byte of a character beyond ASCII is a letter. */
static bool is_letter(char c)
{
	return char_is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Accepts `#t` and `##t` too, which are T-SQL's temporary tables. */
static bool starts_word(const struct lexer *lexer, char c)
{
	return is_letter(c) || (lexer->dialect == SQL_TSQL && c == '#');
}

static bool is_in_word(const struct lexer *lexer, char c)
{
	if (is_letter(c) || char_is_digit(c) || c == '$')
		return true;
	return lexer->dialect == SQL_TSQL && (c == '#' || c == '@');
}

static int refuse_text_at(const struct lexer *lexer, size_t at, struct err *err, const char *what)
{
	size_t line;
	size_t column;

	token_place(lexer, at, &line, &column);
	return err_set(err, ERR_INVALID, "line %zu, column %zu: %s", line, column, what);
}

/* ---- comments and blanks ---- */

/* Returns whether several databases share this dialect, or a mode of the database decides. */
static bool is_ambiguous(const struct lexer *lexer)
{
	return lexer->dialect == SQL_GENERIC || lexer->dialect == SQL_MYSQL;
}

static int skip_line(struct lexer *lexer, struct err *err)
{
	if (is_ambiguous(lexer) && peek(lexer, 0) == '-' && !is_blank(peek(lexer, 2)) &&
	    peek(lexer, 2) != '\0')
		return refuse_text_at(
			lexer, lexer->at, err,
			"'--' needs a blank behind it here; databases read it differently");
	while (lexer->at < lexer->len && peek(lexer, 0) != '\n' && peek(lexer, 0) != '\r')
		lexer->at++;
	/* Some databases end a comment at a carriage return, some do not. */
	if (peek(lexer, 0) == '\r' && peek(lexer, 1) != '\n' && lexer->at + 1 < lexer->len)
		return refuse_text_at(lexer, lexer->at, err,
				      "a carriage return ends a comment for some databases only");
	return 0;
}

static int skip_block(struct lexer *lexer, struct err *err)
{
	size_t begin = lexer->at;
	size_t depth = 1;

	if (is_ambiguous(lexer) && (peek(lexer, 2) == '!' || peek(lexer, 2) == 'M'))
		return refuse_text_at(lexer, begin, err, "a comment like this is run by MySQL");
	lexer->at += 2;
	while (depth > 0) {
		if (lexer->at >= lexer->len)
			return refuse_text_at(lexer, begin, err, "this comment does not end");
		if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
			depth--;
			lexer->at += 2;
		} else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*' &&
			   lexer->dialect != SQL_SQLITE) {
			if (is_ambiguous(lexer))
				return refuse_text_at(lexer, lexer->at, err,
						      "a comment within a comment");
			depth++;
			lexer->at += 2;
		} else {
			lexer->at++;
		}
	}
	return 0;
}

static int skip_blanks(struct lexer *lexer, struct err *err)
{
	while (lexer->at < lexer->len) {
		if (is_blank(peek(lexer, 0))) {
			lexer->at++;
		} else if ((peek(lexer, 0) == '-' && peek(lexer, 1) == '-') ||
			   (peek(lexer, 0) == '#' && lexer->dialect == SQL_MYSQL)) {
			if (skip_line(lexer, err) < 0)
				return -1;
		} else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') {
			if (skip_block(lexer, err) < 0)
				return -1;
		} else {
			return 0;
		}
	}
	return 0;
}

/* ---- strings and quoted names ---- */

/*
 * MySQL's strings have escapes (cmd/sql's odbc modules ensure it), its names have none: "..." may
 * be either.
 */
static bool is_unclear(const struct lexer *lexer, char close)
{
	return lexer->dialect == SQL_GENERIC || (lexer->dialect == SQL_MYSQL && close == '"');
}

/*
 * Takes text up to `close`. With `doubled` two of them stand for one; with `escapes` a backslash
 * hides one.
 */
static int take_quoted(struct lexer *lexer, char close, bool doubled, bool escapes, struct err *err)
{
	size_t begin = lexer->at++;

	while (lexer->at < lexer->len) {
		char c = peek(lexer, 0);

		if (c == '\\' && is_unclear(lexer, close) &&
		    (peek(lexer, 1) == close || peek(lexer, 1) == '\\'))
			return refuse_text_at(
				lexer, lexer->at, err,
				"a backslash here means different things to databases; pass "
				"the text in params");
		if (c == '\\' && escapes) {
			lexer->at += 2;
		} else if (c != close) {
			lexer->at++;
		} else if (doubled && peek(lexer, 1) == close) {
			lexer->at += 2;
		} else {
			lexer->at++;
			return 0;
		}
	}
	return refuse_text_at(lexer, begin, err,
			      close == '\'' ? "this string does not end"
					    : "this name does not end");
}

/* Recognises E'...', which only PostgreSQL has. */
static bool has_escapes(const struct lexer *lexer)
{
	char before = lexer->at > 0 ? lexer->text[lexer->at - 1] : '\0';

	return lexer->dialect == SQL_POSTGRESQL && (before == 'e' || before == 'E');
}

/* Returns the length of a string's prefix: E'', N'', B'', X'', U&''; 0 if there is none. */
static size_t string_prefix(const struct lexer *lexer)
{
	char c = (char)(peek(lexer, 0) | 0x20);

	if (c == 'u' && peek(lexer, 1) == '&' && peek(lexer, 2) == '\'')
		return lexer->dialect == SQL_POSTGRESQL ? 2 : 0;
	if (peek(lexer, 1) != '\'' || c == '\0' || strchr("enbx", c) == NULL)
		return 0;
	return c == 'e' && lexer->dialect != SQL_POSTGRESQL ? 0 : 1;
}

/* Recognises Oracle's q'[it's]' and nq'[it's]' end elsewhere than a string. */
static bool starts_own_quotes(const struct lexer *lexer)
{
	size_t q = (peek(lexer, 0) | 0x20) == 'n' ? 1 : 0;

	return lexer->dialect == SQL_GENERIC && (peek(lexer, q) | 0x20) == 'q' &&
	       peek(lexer, q + 1) == '\'';
}

/* Recognises U&"...", one name in PostgreSQL, DB2 and others. */
static bool starts_unicode_name(const struct lexer *lexer)
{
	return (lexer->dialect == SQL_POSTGRESQL || lexer->dialect == SQL_GENERIC) &&
	       (peek(lexer, 0) | 0x20) == 'u' && peek(lexer, 1) == '&' && peek(lexer, 2) == '"';
}

/* Returns the length of $tag$ at the position, 0 if it is none. */
static size_t dollar_tag(const struct lexer *lexer)
{
	size_t len = 1;

	if (lexer->dialect != SQL_POSTGRESQL || peek(lexer, 0) != '$' ||
	    char_is_digit(peek(lexer, 1)))
		return 0;
	while (is_letter(peek(lexer, len)) || char_is_digit(peek(lexer, len)))
		len++;
	return peek(lexer, len) == '$' ? len + 1 : 0;
}

static int take_dollar(struct lexer *lexer, size_t tag, struct err *err)
{
	const char *begin = lexer->text + lexer->at;
	const char *end = memmem(begin + tag, lexer->len - lexer->at - tag, begin, tag);

	if (end == NULL)
		return refuse_text_at(lexer, lexer->at, err,
				      "this dollar-quoted string does not end");
	lexer->at += (size_t)(end - begin) + tag;
	return 0;
}

/* ---- other tokens ---- */

static void take_word(struct lexer *lexer)
{
	lexer->at++;
	while (lexer->at < lexer->len && is_in_word(lexer, peek(lexer, 0)))
		lexer->at++;
}

static void take_digits(struct lexer *lexer)
{
	while (char_is_digit(peek(lexer, 0)) ||
	       (peek(lexer, 0) == '_' && char_is_digit(peek(lexer, 1))))
		lexer->at++;
}

/* Recognises 0x; alone it is an empty value in T-SQL. */
static bool starts_hex(const struct lexer *lexer)
{
	return peek(lexer, 0) == '0' && (peek(lexer, 1) | 0x20) == 'x' &&
	       (char_hex(peek(lexer, 2)) >= 0 || lexer->dialect == SQL_TSQL);
}

/* A word directly behind a number is a word: SELECT 1UNION is legal for some. */
static void take_number(struct lexer *lexer)
{
	if (starts_hex(lexer)) {
		lexer->at += 2;
		while (char_hex(peek(lexer, 0)) >= 0)
			lexer->at++;
		return;
	}
	take_digits(lexer);
	if (peek(lexer, 0) == '.') {
		lexer->at++;
		take_digits(lexer);
	}
	if ((peek(lexer, 0) | 0x20) == 'e') {
		size_t sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-';

		if (char_is_digit(peek(lexer, 1 + sign))) {
			lexer->at += 1 + sign;
			take_digits(lexer);
		}
	}
}

/* Recognises MySQL's @a.b and @., names in which a dot counts as a letter. */
static bool starts_variable(const struct lexer *lexer)
{
	char next = peek(lexer, 1);

	return lexer->dialect == SQL_MYSQL && peek(lexer, 0) == '@' &&
	       (is_in_word(lexer, next) || next == '.' || next == '@');
}

static void take_variable(struct lexer *lexer)
{
	lexer->at += peek(lexer, 1) == '@' ? 2 : 1;
	while (is_in_word(lexer, peek(lexer, 0)) || peek(lexer, 0) == '.')
		lexer->at++;
}

static bool starts_param(const struct lexer *lexer)
{
	char c = peek(lexer, 0);
	char next = peek(lexer, 1);

	if (c == '?' || starts_variable(lexer))
		return true;
	if (c == '@')
		return lexer->dialect != SQL_POSTGRESQL && (is_letter(next) || next == '@');
	if (c == '$')
		return char_is_digit(next) || (lexer->dialect == SQL_SQLITE && is_letter(next));
	/* Elsewhere it is between the ends of a slice, before a name that may be a function. */
	return lexer->dialect == SQL_SQLITE && c == ':' && is_letter(next);
}

/* Takes a parameter. `?` and `$1` end at their digits; the others are names. */
static void take_param(struct lexer *lexer)
{
	if (starts_variable(lexer)) {
		take_variable(lexer);
		return;
	}
	if (peek(lexer, 0) != '?' && !char_is_digit(peek(lexer, 1))) {
		take_word(lexer);
		return;
	}
	lexer->at++;
	while (char_is_digit(peek(lexer, 0)))
		lexer->at++;
}

/* SQL Server reads 1e as a number, and 1eCOMMIT as 1e COMMIT; others read 1 eCOMMIT. */
static int check_exponent(const struct lexer *lexer, struct err *err)
{
	if (lexer->dialect != SQL_TSQL && !is_ambiguous(lexer))
		return 0;
	if ((peek(lexer, 0) | 0x20) != 'e')
		return 0;
	return refuse_text_at(lexer, lexer->at, err,
			      "'e' right behind a number; put a blank between them");
}

static int take_text(struct lexer *lexer, struct token *ret, struct err *err)
{
	char c = peek(lexer, 0);

	if (c == '\'') {
		ret->kind = TOKEN_STRING;
		lexer->escapes = lexer->at > ret->at ? has_escapes(lexer) : lexer->escapes;
		return take_quoted(lexer, c, true, lexer->escapes || lexer->dialect == SQL_MYSQL,
				   err);
	}
	ret->kind = TOKEN_QUOTED;
	if (c == '[')
		return take_quoted(lexer, ']', lexer->dialect == SQL_TSQL, false, err);
	return take_quoted(lexer, c, true, false, err);
}

static int take_other(struct lexer *lexer, struct token *ret, struct err *err)
{
	char c = peek(lexer, 0);

	if (c == '$' && lexer->dialect == SQL_POSTGRESQL)
		return refuse_text_at(lexer, lexer->at, err,
				      "a $ that begins neither a parameter nor a string");
	if (c == '#' && lexer->dialect == SQL_GENERIC)
		return refuse_text_at(lexer, lexer->at, err,
				      "'#' begins a comment for some databases");
	ret->kind = TOKEN_OTHER;
	lexer->at++;
	return 0;
}

static int take_token(struct lexer *lexer, struct token *ret, struct err *err)
{
	char c = peek(lexer, 0);
	size_t tag = dollar_tag(lexer);

	/* SQL Server treats them as blanks, which no rule considers. */
	if ((unsigned char)c < ' ' || c == '\x7f')
		return refuse_text_at(lexer, lexer->at, err, "a control character");
	if (c == '\'' || strchr(bracketing[lexer->dialect], c) != NULL)
		return take_text(lexer, ret, err);
	if (starts_own_quotes(lexer))
		return refuse_text_at(lexer, lexer->at, err,
				      "databases read a string like this differently");
	if (starts_unicode_name(lexer) || string_prefix(lexer) > 0) {
		lexer->at += starts_unicode_name(lexer) ? 2 : string_prefix(lexer);
		return take_text(lexer, ret, err);
	}
	if (tag > 0) {
		ret->kind = TOKEN_STRING;
		return take_dollar(lexer, tag, err);
	}
	if (char_is_digit(c) || (c == '.' && char_is_digit(peek(lexer, 1)))) {
		ret->kind = TOKEN_NUMBER;
		take_number(lexer);
		return check_exponent(lexer, err);
	}
	if (starts_param(lexer)) {
		ret->kind = TOKEN_PARAM;
		take_param(lexer);
		return char_is_digit(lexer->text[lexer->at - 1]) ? check_exponent(lexer, err) : 0;
	}
	if (starts_word(lexer, c)) {
		ret->kind = TOKEN_WORD;
		take_word(lexer);
		return 0;
	}
	return take_other(lexer, ret, err);
}

/*
 * SQL Server ends a word at U+0085, U+00A0, U+200B and more, and at signs of money. One name for us
 * may therefore be two words there.
 */
static int check_letters(const struct lexer *lexer, const struct token *token, struct err *err)
{
	size_t span;

	if (lexer->dialect != SQL_TSQL && !is_ambiguous(lexer))
		return 0;
	if (token->kind != TOKEN_WORD && token->kind != TOKEN_PARAM)
		return 0;
	span = identifier_span(lexer->text + token->at, token->len);
	if (span == token->len)
		return 0;
	return refuse_text_at(lexer, token->at + span, err,
			      "a character that is no letter, no digit and no plain blank");
}

void token_start(struct lexer *lexer, enum sql_dialect dialect, const char *text, size_t len)
{
	*lexer = (struct lexer){ .text = text, .len = len, .dialect = dialect };
}

int token_next(struct lexer *lexer, struct token *ret, struct err *err)
{
	struct token token = { .kind = TOKEN_END };

	if (skip_blanks(lexer, err) < 0)
		return -1;
	token.at = lexer->at;
	if (lexer->at < lexer->len && take_token(lexer, &token, err) < 0)
		return -1;
	/* An escape may have reached past the end. */
	if (lexer->at > lexer->len)
		return refuse_text_at(lexer, token.at, err, "this string does not end");
	lexer->escapes = lexer->escapes && token.kind == TOKEN_STRING;
	token.len = lexer->at - token.at;
	if (check_letters(lexer, &token, err) < 0)
		return -1;
	*ret = token;
	return 0;
}

/* ---- blanks beyond ASCII ---- */

/* Returns the bytes of U+00A0, U+3000 or a byte order mark; 0 for anything else. */
static size_t wide_blank(const char *s, size_t len)
{
	static const char *const blanks[] = { "\xc2\xa0", "\xe3\x80\x80", "\xef\xbb\xbf" };

	for (size_t i = 0; i < ARRAY_SIZE(blanks); i++) {
		size_t blank_len = strlen(blanks[i]);

		if (len >= blank_len && memcmp(s, blanks[i], blank_len) == 0)
			return blank_len;
	}
	return 0;
}

/* Shortens the token that was just taken to end before the first such blank. */
static void shorten_token(struct lexer *lexer, const struct token *token)
{
	if (token->kind != TOKEN_WORD && token->kind != TOKEN_PARAM)
		return;
	for (size_t i = token->at; i < lexer->at; i++)
		if (wide_blank(lexer->text + i, lexer->at - i) > 0)
			lexer->at = i;
}

void token_plain_blanks(enum sql_dialect dialect, const char *text, size_t len, struct buf *out)
{
	struct lexer lexer;
	struct err err;
	size_t put = 0;

	token_start(&lexer, dialect, text, len);
	while (skip_blanks(&lexer, &err) == 0 && lexer.at < len) {
		struct token token = { .kind = TOKEN_END, .at = lexer.at };
		size_t blank = wide_blank(text + lexer.at, len - lexer.at);

		if (blank > 0) {
			buf_put(out, text + put, lexer.at - put);
			buf_put_char(out, ' ');
			lexer.at += blank;
			put = lexer.at;
			lexer.escapes = false;
			continue;
		}
		if (take_token(&lexer, &token, &err) < 0 || lexer.at > len)
			break;
		shorten_token(&lexer, &token);
		lexer.escapes = lexer.escapes && token.kind == TOKEN_STRING;
	}
	buf_put(out, text + put, len - put);
}

/* ---- comparing tokens ---- */

bool token_is(const struct lexer *lexer, const struct token *token, const char *word)
{
	return token->kind == TOKEN_WORD && strlen(word) == token->len &&
	       strncasecmp(lexer->text + token->at, word, token->len) == 0;
}

bool token_is_char(const struct lexer *lexer, const struct token *token, char c)
{
	return token->kind == TOKEN_OTHER && lexer->text[token->at] == c;
}

char *token_name(const struct lexer *lexer, const struct token *token)
{
	const char *text = lexer->text + token->at;
	size_t len = token->len;
	size_t out = 0;
	char *name;
	char close;

	if (token->kind != TOKEN_QUOTED)
		return xmemdup(text, len);
	for (; *text != '"' && *text != '`' && *text != '['; len--)
		text++;
	close = *text == '[' ? ']' : *text;
	name = xmemdup(text + 1, len - 2);
	for (size_t i = 0; i < len - 2; i++) {
		name[out++] = name[i];
		if (name[i] == close && i + 1 < len - 2 && name[i + 1] == close)
			i++;
	}
	name[out] = '\0';
	return name;
}

char *token_text(const struct lexer *lexer, const struct token *token)
{
	char *text;
	char *out;

	if (token->kind != TOKEN_STRING)
		return token_name(lexer, token);
	if (token->len < 2)
		return xstrdup("");
	text = xmemdup(lexer->text + token->at + 1, token->len - 2);
	out = text;
	for (const char *s = text; *s != '\0'; s++) {
		*out++ = *s;
		s += s[0] == '\'' && s[1] == '\'';
	}
	*out = '\0';
	return text;
}

void token_place(const struct lexer *lexer, size_t at, size_t *ret_line, size_t *ret_column)
{
	size_t line = 1;
	size_t column = 1;

	for (size_t i = 0; i < at && i < lexer->len; i++) {
		if (lexer->text[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)lexer->text[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	*ret_line = line;
	*ret_column = column;
}
