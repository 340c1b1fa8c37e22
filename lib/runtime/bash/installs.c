/* SPDX-License-Identifier: MIT */
#include "runtime/bash/installs.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/util.h"

enum { MARKS_MAX = 64, DOCUMENTS_MAX = 8, DEPTH_MAX = 64 };

/* How far a command's words have gone towards installing something. */
enum progress { NOTHING, PIP, PYTHON, PYTHON_M, UV, NPM, FOUND, TRAP, BUILTIN };

/* A command that gets a word before it. */
struct mark {
	const char *at;
	const char *word;
};

struct word {
	const char *start;
	size_t len;
	bool plain; /* it means what it says: no quotes, nothing to expand */
};

/* A here-document that begins behind the next line's end. */
struct document {
	struct word ending;
	bool quoted; /* a backslash at a line's end is nothing special */
	bool tabs;   /* before its end do not count */
};

struct lexer {
	const char *at;
	const char *end;
	bool begins;  /* the next word is a command's first */
	bool target;  /* the next word is a redirection's */
	size_t words; /* of the command so far */
	bool resets;  /* of a trap: what it was before */
	const char *command;
	enum progress progress;
	unsigned int depth; /* of parentheses */
	struct document documents[DOCUMENTS_MAX];
	size_t document_count;
	struct mark marks[MARKS_MAX];
	size_t mark_count;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_word(char c)
{
	return is_blank(c) || strchr("\n;&|()<>", c) != NULL;
}

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || strchr("_./:@%+=,-[]!{}^", c) != NULL;
}

static bool word_is(const struct word *word, const char *text)
{
	return word->len == strlen(text) && memcmp(word->start, text, word->len) == 0;
}

static bool word_in(const struct word *word, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		if (word_is(word, *texts))
			return true;
	return false;
}

static bool word_begins(const struct word *word, const char *text)
{
	return word->len >= strlen(text) && memcmp(word->start, text, strlen(text)) == 0;
}

/* ---- words ---- */

/* All of these return what follows, or NULL where this cannot be told. */
static const char *skip_bracketed(const char *at, const char *end, unsigned int depth);

static const char *skip_single(const char *at, const char *end)
{
	const char *quote = memchr(at, '\'', (size_t)(end - at));

	return quote != NULL ? quote + 1 : NULL;
}

/* To behind the first `quote` that no backslash is before. */
static const char *skip_escaped(const char *at, const char *end, char quote)
{
	while (at < end && *at != quote) {
		if (*at == '\\' && at + 1 < end)
			at++;
		at++;
	}
	return at < end ? at + 1 : NULL;
}

/* $'...' */
static const char *skip_ansi(const char *at, const char *end)
{
	return skip_escaped(at, end, '\'');
}

static const char *skip_backquoted(const char *at, const char *end)
{
	return skip_escaped(at, end, '`');
}

/* What follows a dollar sign, which is at[-1]. */
static const char *skip_dollar(const char *at, const char *end, unsigned int depth)
{
	if (at < end && (*at == '(' || *at == '{'))
		return skip_bracketed(at, end, depth + 1);
	return at;
}

static const char *skip_double(const char *at, const char *end, unsigned int depth)
{
	while (at != NULL && at < end && *at != '"') {
		if (*at == '\\')
			at = at + 1 < end ? at + 2 : NULL;
		else if (*at == '`')
			at = skip_backquoted(at + 1, end);
		else if (*at == '$')
			at = skip_dollar(at + 1, end, depth);
		else
			at++;
	}
	return at != NULL && at < end ? at + 1 : NULL;
}

/* One quoted or expanded piece, or one character. */
static const char *skip_piece(const char *at, const char *end, unsigned int depth)
{
	switch (*at) {
	case '\\':
		return at + 1 < end ? at + 2 : NULL;
	case '\'':
		return skip_single(at + 1, end);
	case '"':
		return skip_double(at + 1, end, depth);
	case '`':
		return skip_backquoted(at + 1, end);
	case '$':
		if (at + 1 < end && at[1] == '\'')
			return skip_ansi(at + 2, end);
		return skip_dollar(at + 1, end, depth);
	default:
		return at + 1;
	}
}

/* What could hold a bracket that closes nothing. */
static bool is_obscure(char open, const char *at, const char *end)
{
	size_t left = (size_t)(end - at);

	/* In ${...} a brace opens nothing, and a quote depends on what is around. */
	if (open == '{')
		return *at == '{' || *at == '\'' || *at == '\n';
	return (*at == '#' && is_blank(at[-1])) || *at == '\n' ||
	       (left >= 2 && memcmp(at, "<<", 2) == 0) ||
	       (left >= 5 && memcmp(at, "case ", 5) == 0 && !isalnum((unsigned char)at[-1]));
}

/* From the bracket at `at` to behind its partner: $(...), ${...}, name=(...), <(...). */
static const char *skip_bracketed(const char *at, const char *end, unsigned int depth)
{
	char open = *at;
	char close = open == '(' ? ')' : '}';
	unsigned int nested = 0;

	if (depth > DEPTH_MAX)
		return NULL;
	while (at != NULL && at < end) {
		if (nested > 0 && is_obscure(open, at, end))
			return NULL;
		if (*at == open)
			nested++;
		if (*at == close && --nested == 0)
			return at + 1;
		at = *at == open || *at == close ? at + 1 : skip_piece(at, end, depth);
	}
	return NULL;
}

static void mark(struct lexer *l, const char *at, const char *word)
{
	if (l->mark_count < MARKS_MAX &&
	    (l->mark_count == 0 || l->marks[l->mark_count - 1].at < at))
		l->marks[l->mark_count++] = (struct mark){ at, word };
}

/* $(trap -p EXIT), whose answer code keeps, to set the trap again. */
static void mark_listing(struct lexer *l, const struct word *word)
{
	static const char listing[] = "$(trap -p";
	const char *found = memmem(word->start, word->len, listing, sizeof(listing) - 1);

	if (found != NULL && memchr(word->start, '\'', word->len) == NULL &&
	    (found == word->start || found[-1] != '\\'))
		mark(l, found + strlen("$("), TRAPS_WORD);
}

/* Takes a word; false where its end cannot be told. */
static bool take_word(struct lexer *l, struct word *ret)
{
	const char *at = l->at;

	*ret = (struct word){ .start = at, .plain = true };
	while (at != NULL && at < l->end && !ends_word(*at)) {
		ret->plain = ret->plain && is_plain(*at);
		at = skip_piece(at, l->end, 0);
		if (at != NULL && at < l->end && *at == '(' && at[-1] == '=') {
			ret->plain = false;
			at = skip_bracketed(at, l->end, 1);
		}
	}
	if (at == NULL || at > l->end)
		return false;
	ret->len = (size_t)(at - ret->start);
	l->at = at;
	return true;
}

/* ---- commands ---- */

/* Also as in notebooks: !pip, %pip. */
static enum progress begin_progress(const struct word *first)
{
	bool marked = first->len > 1 && (*first->start == '!' || *first->start == '%');
	const struct word cut = { .start = first->start + marked, .len = first->len - marked };
	const struct word *word = &cut;

	if (word_is(word, "pip") || word_is(word, "pip3") || word_begins(word, "pip3."))
		return PIP;
	if (word_is(word, "python") || word_is(word, "python3") || word_begins(word, "python3."))
		return PYTHON;
	if (word_is(word, "npm"))
		return NPM;
	if (word_is(word, "trap") || word_is(word, "\\trap"))
		return TRAP;
	if (word_is(word, "builtin") || word_is(word, "command"))
		return BUILTIN;
	return word_is(word, "uv") ? UV : NOTHING;
}

static enum progress next_progress(enum progress before, const struct word *word)
{
	static const char *const adds[] = { "install", "i", "add", NULL };

	switch (before) {
	case PIP:
		if (word_is(word, "install"))
			return FOUND;
		return word->start[0] == '-' ? PIP : NOTHING;
	case NPM:
		if (word_in(word, adds))
			return FOUND;
		return word->start[0] == '-' ? NPM : NOTHING;
	case PYTHON:
		return word_is(word, "-m") ? PYTHON_M : NOTHING;
	case PYTHON_M:
	case UV:
		return word_is(word, "pip") ? PIP : NOTHING;
	case BUILTIN:
		return word_is(word, "trap") ? TRAP : NOTHING;
	case FOUND:
	case TRAP:
	case NOTHING:
		break;
	}
	return NOTHING;
}

static void mark_command(struct lexer *l, const char *word)
{
	mark(l, l->command, word);
}

/* DEBUG and RETURN would be those of the function that the mark is, which cannot reset or list ERR
 * either. */
static void unmark_trap(struct lexer *l, const struct word *word)
{
	static const char *const functions_own[] = { "DEBUG", "RETURN", NULL };

	if (l->words == 2)
		l->resets = word_is(word, "-") || word_is(word, "-p") || word_is(word, "ERR");
	if (!word_in(word, functions_own) && !(l->resets && word_is(word, "ERR")))
		return;
	l->progress = NOTHING;
	if (l->mark_count > 0 && l->marks[l->mark_count - 1].at == l->command)
		l->mark_count--;
}

static void begin_command(struct lexer *l)
{
	l->begins = true;
	l->target = false;
	l->words = 0;
	l->progress = NOTHING;
}

static bool is_assignment(const struct word *word)
{
	size_t n = 0;

	while (n < word->len && (isalnum((unsigned char)word->start[n]) || word->start[n] == '_'))
		n++;
	return n > 0 && n < word->len && word->start[n] == '=' &&
	       !isdigit((unsigned char)word->start[0]);
}

/* In [[ ]] operators and parentheses are part of a test. */
static bool skip_test(struct lexer *l)
{
	while (l->at < l->end) {
		struct word word;

		if (ends_word(*l->at)) {
			l->at++;
			continue;
		}
		if (*l->at == '#' || !take_word(l, &word))
			return false;
		if (word_is(&word, "]]"))
			return true;
	}
	return false;
}

/* name () */
static bool is_definition(const struct lexer *l)
{
	const char *at = l->at;

	while (at < l->end && is_blank(*at))
		at++;
	return at < l->end && *at == '(';
}

/* False: from here on nothing is known. */
static bool take_first(struct lexer *l, const struct word *word)
{
	static const char *const go_on[] = { "if", "then", "else", "elif", "while", "until",
					     "do", "{",    "!",    "time", NULL };

	if (is_assignment(word) || (word->plain && word_in(word, go_on)))
		return true; /* a command may follow at once */
	if (word_is(word, "case"))
		return false;
	l->begins = false;
	l->command = word->start;
	if (word_is(word, "[["))
		return skip_test(l);
	if (word->plain || word_is(word, "\\trap"))
		l->progress = begin_progress(word);
	if (l->progress == TRAP && is_definition(l))
		l->progress = NOTHING;
	if (l->progress == TRAP)
		mark_command(l, TRAPS_WORD);
	return true;
}

/* The 2 of `2>/dev/null`. */
static bool is_descriptor(const struct lexer *l, const struct word *word)
{
	if (l->at == l->end || (*l->at != '<' && *l->at != '>'))
		return false;
	for (size_t i = 0; i < word->len; i++)
		if (!isdigit((unsigned char)word->start[i]))
			return false;
	return word->len > 0;
}

static bool handle_word(struct lexer *l)
{
	struct word word;

	if (!take_word(l, &word))
		return false;
	mark_listing(l, &word);
	if (l->target) {
		l->target = false;
		return true;
	}
	if (is_descriptor(l, &word))
		return true;
	l->words++;
	if (l->begins)
		return take_first(l, &word);
	if (l->progress == TRAP) {
		unmark_trap(l, &word);
		return true;
	}
	l->progress = word.plain ? next_progress(l->progress, &word) : NOTHING;
	if (l->progress == FOUND)
		mark_command(l, INSTALLS_WORD);
	if (l->progress == TRAP) {
		mark_command(l, TRAPS_WORD);
		l->words = 1;
	}
	return true;
}

/* ---- here-documents ---- */

/* Behind "<<": the word that ends it. Its quotes are left out of the comparison. */
static bool take_document(struct lexer *l)
{
	struct word word;
	struct document document = { .tabs = l->at < l->end && *l->at == '-' };

	if (document.tabs)
		l->at++;
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	if (!take_word(l, &word) || word.len == 0 || l->document_count == DOCUMENTS_MAX)
		return false;
	if ((*word.start == '\'' || *word.start == '"') && word.len > 2) {
		word.start++;
		word.len -= 2;
	} else if (*word.start == '\\') {
		word.start++;
		word.len--;
	}
	document.quoted = !word.plain;
	for (size_t i = 0; i < word.len; i++)
		if (!is_plain(word.start[i]))
			return false;
	document.ending = word;
	l->documents[l->document_count++] = document;
	return true;
}

/* Behind a line's end: the lines of one document. */
static bool skip_document(struct lexer *l, const struct document *document)
{
	const struct word *ending = &document->ending;
	bool joined = false; /* with the line before */

	while (l->at < l->end) {
		const char *line = l->at;
		const char *newline = memchr(line, '\n', (size_t)(l->end - line));
		const char *line_end = newline != NULL ? newline : l->end;

		l->at = newline != NULL ? newline + 1 : l->end;
		while (document->tabs && line < line_end && *line == '\t')
			line++;
		if ((size_t)(line_end - line) == ending->len &&
		    memcmp(line, ending->start, ending->len) == 0)
			return !joined;
		joined = !document->quoted && line < line_end && line_end[-1] == '\\';
	}
	return false;
}

static bool handle_newline(struct lexer *l)
{
	l->at++;
	for (size_t i = 0; i < l->document_count; i++)
		if (!skip_document(l, &l->documents[i]))
			return false;
	l->document_count = 0;
	begin_command(l);
	return true;
}

/* ---- operators ---- */

static bool next_is(const struct lexer *l, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(l->end - l->at) >= len && memcmp(l->at, text, len) == 0;
}

static bool handle_redirection(struct lexer *l)
{
	if (next_is(l, "<<<")) {
		l->at += 3;
	} else if (next_is(l, "<<")) {
		l->at += 2;
		return take_document(l);
	} else if (next_is(l, "<(") || next_is(l, ">(")) {
		l->at = skip_bracketed(l->at + 1, l->end, 1);
		return l->at != NULL;
	} else {
		l->at++;
		while (l->at < l->end && strchr(">|&", *l->at) != NULL)
			l->at++;
	}
	l->target = true;
	return true;
}

static bool handle_open(struct lexer *l)
{
	if (next_is(l, "(("))
		return false;
	l->at++;
	/* A group, or "name ()": what else there is with a parenthesis is not known here. */
	if (!l->begins && !(l->words == 1 && l->at < l->end && *l->at == ')'))
		return false;
	l->depth++;
	begin_command(l);
	return true;
}

static bool handle_operator(struct lexer *l)
{
	switch (*l->at) {
	case '(':
		return handle_open(l);
	case ')':
		if (l->depth-- == 0)
			return false;
		break;
	case '<':
	case '>':
		return handle_redirection(l);
	case '&':
		if (next_is(l, "&>")) {
			l->at++;
			return handle_redirection(l);
		}
		break;
	default:
		break;
	}
	l->at++;
	begin_command(l);
	return true;
}

/* True while there is more that can be followed. */
static bool step(struct lexer *l)
{
	char c = *l->at;

	if (is_blank(c)) {
		l->at++;
		return true;
	}
	if (next_is(l, "\\\n")) {
		l->at += 2;
		return true;
	}
	if (c == '#') {
		while (l->at < l->end && *l->at != '\n')
			l->at++;
		return true;
	}
	if (c == '\n')
		return handle_newline(l);
	return ends_word(c) ? handle_operator(l) : handle_word(l);
}

void installs_mark(const char *code, size_t len, struct buf *out)
{
	static const char *const of_interest[] = { "pip", "npm", "trap" };
	struct lexer l = { .at = code, .end = code + len };
	bool look = false;

	for (size_t i = 0; i < ARRAY_SIZE(of_interest); i++)
		look = look || memmem(code, len, of_interest[i], strlen(of_interest[i])) != NULL;
	begin_command(&l);
	while (look && l.at < l.end && step(&l))
		;
	for (size_t i = 0; i < l.mark_count; i++) {
		buf_put(out, code, (size_t)(l.marks[i].at - code));
		buf_puts(out, l.marks[i].word);
		len -= (size_t)(l.marks[i].at - code);
		code = l.marks[i].at;
	}
	buf_put(out, code, len);
}
