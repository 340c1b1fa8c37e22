/* SPDX-License-Identifier: MIT */
/*
 * The pattern is a list of tokens, and all places in it where the path may stand are moved on
 * together, character by character: nothing is ever tried twice.
 */
#include "tools/glob.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/utf8.h"

enum token_kind {
	TOKEN_LITERAL,
	TOKEN_ANY,     /* ? */
	TOKEN_SET,     /* [abc] */
	TOKEN_STAR,    /* * */
	TOKEN_CROSS,   /* ** */
	TOKEN_FOLDERS, /* "**" and a slash, where a part begins: any number of whole parts */
};

struct token {
	enum token_kind kind;
	int32_t literal;
	const char *set; /* behind its '[', and its ']' */
	const char *set_end;
};

struct matcher {
	struct token *tokens;
	size_t count;
	bool *here; /* count + 1 places: before each token, and behind all */
	bool *next;
};

/* The character at `s`, which is not at its end; returns what follows it. */
static const char *take_char(const char *s, int32_t *ret_char)
{
	size_t len = utf8_offset(s, strnlen(s, 4), 1);
	struct utf8_decoder decoder = { 0 };
	int32_t second;

	*ret_char = UTF8_MORE;
	for (size_t i = 0; i < len && *ret_char == UTF8_MORE; i++)
		utf8_decode(&decoder, (unsigned char)s[i], ret_char, &second);
	if (*ret_char == UTF8_MORE)
		*ret_char = UTF8_REPLACEMENT;
	return s + len;
}

/* ---- reading the pattern ---- */

/* The ']' of the set behind whose '[' `s` is; NULL when it is not closed: then '[' is literal. */
static const char *find_set_end(const char *s)
{
	if (*s == '!' || *s == '^')
		s++;
	return *s != '\0' ? strchr(s + 1, ']') : NULL;
}

static const char *read_token(const char *p, bool part_begins, struct token *token)
{
	if (strncmp(p, "**/", 3) == 0 && part_begins) {
		token->kind = TOKEN_FOLDERS;
		return p + 3;
	}
	if (strncmp(p, "**", 2) == 0) {
		token->kind = TOKEN_CROSS;
		return p + 2;
	}
	if (*p == '*' || *p == '?') {
		token->kind = *p == '*' ? TOKEN_STAR : TOKEN_ANY;
		return p + 1;
	}
	if (*p == '[') {
		token->set = p + 1;
		token->set_end = find_set_end(p + 1);
		token->kind = token->set_end != NULL ? TOKEN_SET : TOKEN_LITERAL;
		token->literal = '[';
		return token->set_end != NULL ? token->set_end + 1 : p + 1;
	}
	token->kind = TOKEN_LITERAL;
	return take_char(p, &token->literal);
}

/* Stars in a row are one; so at most two tokens in a row can match nothing. */
static bool is_redundant(const struct token *token, const struct token *before)
{
	if (before->kind == TOKEN_CROSS)
		return token->kind == TOKEN_CROSS || token->kind == TOKEN_STAR;
	return before->kind == TOKEN_FOLDERS && token->kind == TOKEN_FOLDERS;
}

static void matcher_init(struct matcher *m, const char *pattern)
{
	const char *p = pattern;
	size_t most = strlen(pattern);

	*m = (struct matcher){ .tokens = xcalloc(most, sizeof(*m->tokens)) };
	while (*p != '\0') {
		bool part_begins = p == pattern || p[-1] == '/';
		struct token *token = &m->tokens[m->count];

		p = read_token(p, part_begins, token);
		if (m->count == 0 || !is_redundant(token, token - 1))
			m->count++;
	}
	m->here = xcalloc(m->count + 1, sizeof(bool));
	m->next = xcalloc(m->count + 1, sizeof(bool));
}

static void matcher_release(struct matcher *m)
{
	free(m->tokens);
	free(m->here);
	free(m->next);
}

/* ---- moving on ---- */

static bool in_set(const struct token *token, int32_t c)
{
	const char *s = token->set;
	bool negated = *s == '!' || *s == '^';
	bool found = false;

	s += negated ? 1 : 0;
	while (s < token->set_end) {
		int32_t first;
		int32_t last;

		s = take_char(s, &first);
		last = first;
		if (*s == '-' && s + 1 < token->set_end)
			s = take_char(s + 1, &last);
		found = found || (c >= first && c <= last);
	}
	return found != negated && c != '/';
}

/* May stand before token `i`, and so behind those that match nothing too. */
static void stand(const struct matcher *m, bool *places, size_t i)
{
	places[i] = true;
	while (i < m->count && m->tokens[i].kind >= TOKEN_STAR)
		places[++i] = true;
}

static void move_token(const struct matcher *m, size_t i, int32_t c)
{
	const struct token *token = &m->tokens[i];

	switch (token->kind) {
	case TOKEN_LITERAL:
		if (c == token->literal)
			stand(m, m->next, i + 1);
		break;
	case TOKEN_ANY:
		if (c != '/')
			stand(m, m->next, i + 1);
		break;
	case TOKEN_SET:
		if (in_set(token, c))
			stand(m, m->next, i + 1);
		break;
	case TOKEN_STAR:
		if (c != '/')
			stand(m, m->next, i);
		break;
	case TOKEN_CROSS:
		stand(m, m->next, i);
		break;
	case TOKEN_FOLDERS:
		m->next[i] = true; /* within a part: what follows must wait for its end */
		if (c == '/')
			stand(m, m->next, i + 1);
		break;
	}
}

static void move(struct matcher *m, int32_t c)
{
	bool *moved = m->next;

	memset(m->next, 0, (m->count + 1) * sizeof(bool));
	for (size_t i = 0; i < m->count; i++)
		if (m->here[i])
			move_token(m, i, c);
	m->next = m->here;
	m->here = moved;
}

bool glob_match(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct matcher m;
	bool matches;

	if (strchr(pattern, '/') == NULL && strstr(pattern, "**") == NULL && slash != NULL)
		path = slash + 1;
	matcher_init(&m, pattern);
	stand(&m, m.here, 0);
	while (*path != '\0') {
		int32_t c;

		path = take_char(path, &c);
		move(&m, c);
	}
	matches = m.here[m.count];
	matcher_release(&m);
	return matches;
}
