/* SPDX-License-Identifier: MIT */
/*
 * trap_commands.c - a lexer of shell commands that marks some of them. It does not parse bash
 * completely: where it cannot follow a construct, it stops, and the cell runs without marks. A
 * wrong mark would change the meaning of code, a missing one only loses a convenience.
 */
#include "runtime/bash/trap_commands.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "runtime/bash/lexer.h"

static bool step(struct lexer *l);
static enum ending follow(struct lexer *l);

/* Makes a group of a command, with a function as its last or first command. */
static void group_command(struct lexer *l, const char *start, const char *end)
{
	size_t count = l->marks->count;

	if (count + 2 > LEXER_MARKS_MAX)
		return;
	bash_add_mark(l->marks, l->start, start);
	if (l->marks->count > count)
		bash_add_mark(l->marks, l->words_end, end);
}

static void end_command(struct lexer *l)
{
	if (l->progress == TRAP && (l->lists || l->words == 1))
		bash_rename_mark(l->marks, l->command, LISTS_WORD);
	if (l->progress == SOURCES || (l->progress == BARE_TRAP && l->exits))
		group_command(l, SETTLING_START, SETTLING_END);
	if (l->progress == EXITS)
		group_command(l, EXIT_START, EXIT_END);
	l->progress = NOTHING;
	l->exits = false;
	l->dashes = false;
	l->lists = false;
	l->start = NULL;
}

static void begin_command(struct lexer *l)
{
	end_command(l);
	l->begins = true;
	l->target = false;
	l->words = 0;
}

/* ---- commands ---- */

/* Commands after which, or before which, a trap of EXIT may have come from elsewhere. */
static enum progress begin_settling(const struct lexer *l, const struct word *word)
{
	if (l->inner)
		return NOTHING;
	if (bash_word_is(word, ".") || bash_word_is(word, "source"))
		return l->looped == 0 ? SOURCES : NOTHING; /* it costs a fork */
	return l->marks->foreign && bash_word_is(word, "exit") ? EXITS : NOTHING;
}

/* Returns true for the notation of notebooks: !pip, %pip. */
static bool is_of_notebooks(const struct word *word)
{
	static const char *const programs[] = { "pip", "pip3", "uv", "conda", "npm", NULL };
	const struct word name = { .start = word->start + 1, .len = word->len - 1 };

	return word->len > 1 && (*word->start == '!' || *word->start == '%') &&
	       bash_word_in(&name, programs);
}

static enum progress begin_progress(const struct lexer *l, const struct word *word)
{
	if (bash_word_is(word, "trap") || bash_word_is(word, "\\trap"))
		return TRAP;
	if (bash_word_is(word, "builtin") || bash_word_is(word, "command"))
		return BUILTIN;
	return begin_settling(l, word);
}

/* Compares case-insensitively: bash accepts signals in small letters. */
static bool is_signal(const struct word *word, const char *name)
{
	return word->len == strlen(name) && strncasecmp(word->start, name, word->len) == 0;
}

/*
 * Handles a word of `trap`. DEBUG and RETURN traps would be set for the marking function, which
 * cannot reset ERR either.
 */
static void take_trap_word(struct lexer *l, const struct word *word)
{
	if (l->words == 2 && !l->dashes && bash_word_is(word, "--")) {
		l->dashes = true;
		l->words--;
		return;
	}
	l->lists = l->lists || (l->words == 2 && !l->dashes && bash_word_is(word, "-p"));
	if (l->lists && !is_signal(word, "DEBUG"))
		return; /* under set -T it runs for the function's commands */
	if (l->words == 2)
		l->resets = bash_word_is(word, "-") || is_signal(word, "ERR");
	else
		l->exits = l->exits || is_signal(word, "EXIT") || bash_word_is(word, "0");
	if (!is_signal(word, "DEBUG") && !is_signal(word, "RETURN") &&
	    !(l->resets && is_signal(word, "ERR")))
		return;
	l->progress = BARE_TRAP;
	bash_remove_mark(l->marks, l->command);
}

static bool is_assignment(const struct word *word)
{
	size_t n = 0;

	while (n < word->len && (isalnum((unsigned char)word->start[n]) || word->start[n] == '_'))
		n++;
	return n > 0 && n < word->len && word->start[n] == '=' &&
	       !isdigit((unsigned char)word->start[0]);
}

/* Skips to the line end. */
static void skip_comment(struct lexer *l)
{
	while (l->at < l->end && *l->at != '\n')
		l->at++;
}

/*
 * Skips [[ ]], in which operators and parentheses belong to a test, or to a pattern such as ^(#|b).
 */
static bool skip_test(struct lexer *l)
{
	while (l->at < l->end) {
		struct word word;

		if (*l->at == '#' && (lexer_is_blank(l->at[-1]) || l->at[-1] == '\n')) {
			skip_comment(l);
			continue;
		}
		if (bash_ends_word(*l->at) || *l->at == '#') {
			l->at++;
			continue;
		}
		if (!bash_take_word(l, &word))
			return false;
		if (bash_word_is(&word, "]]")) {
			begin_command(l); /* `then` may follow at once */
			return true;
		}
	}
	return false;
}

/* Returns true for "name ()". */
static bool is_definition(const struct lexer *l)
{
	const char *at = l->at;

	while (at < l->end && lexer_is_blank(*at))
		at++;
	return at < l->end && *at == '(';
}

/* ---- reserved words ---- */

/* Skips blanks, comments and line ends between the parts of a command over several lines. */
static bool skip_lines(struct lexer *l)
{
	while (l->at < l->end && (lexer_is_blank(*l->at) || *l->at == '\n' || *l->at == '#' ||
				  bash_next_is(l, "\\\n")))
		if (!step(l))
			return false;
	return true;
}

/* Skips the patterns of a clause and its parenthesis. Sets `done` if `esac` comes instead. */
static bool skip_patterns(struct lexer *l, bool *done)
{
	struct word word;
	bool first;

	if (!skip_lines(l))
		return false;
	l->begins = false; /* it is a pattern */
	first = !bash_next_is(l, "(");
	l->at += !first;
	while (l->at < l->end && *l->at != ')') {
		if (lexer_is_blank(*l->at) || *l->at == '|') {
			l->at++;
			continue;
		}
		if (!bash_take_word(l, &word) || word.len == 0)
			return false;
		*done = first && bash_word_is(&word, "esac");
		if (*done)
			return true;
		first = false;
	}
	if (l->at == l->end)
		return false;
	l->at++;
	return true;
}

/* Reads the clauses after `in`, and `esac`. */
static bool take_clauses(struct lexer *l)
{
	enum ending ending = CLAUSE;
	bool done = false;

	while (ending == CLAUSE) {
		if (!skip_patterns(l, &done))
			return false;
		if (done)
			return true;
		begin_command(l);
		ending = follow(l);
	}
	return ending == ESAC;
}

/* Reads the rest of a command after `case`. */
static bool take_case(struct lexer *l)
{
	unsigned int depth = l->depth;
	struct word word;
	bool taken;

	l->begins = false;
	if (l->nested >= LEXER_DEPTH_MAX || !skip_lines(l) || !bash_take_word(l, &word) ||
	    word.len == 0 || !skip_lines(l) || !bash_take_word(l, &word) ||
	    !bash_word_is(&word, "in"))
		return false;
	l->nested++;
	l->depth = 0;
	taken = take_clauses(l);
	l->nested--;
	l->depth = depth;
	l->ending = LOST;
	begin_command(l); /* `fi` may follow at once */
	return taken;
}

/* Reads the name in "function NAME { ...; }". */
static bool take_name(struct lexer *l)
{
	struct word word;

	while (l->at < l->end && lexer_is_blank(*l->at))
		l->at++;
	if (!bash_take_word(l, &word))
		return false;
	begin_command(l);
	return true;
}

/*
 * Handles a reserved word, after which a command may begin. Sets `ret` to false if it could not be
 * followed.
 */
static bool take_reserved(struct lexer *l, const struct word *word, bool *ret)
{
	static const char *const go_on[] = { "if",    "then", "else", "elif",   "while",
					     "until", "do",   "{",    "!",      "time",
					     "fi",    "done", "}",    "coproc", NULL };

	*ret = true;
	if (!word->plain)
		return false;
	if (bash_word_in(word, go_on)) {
		l->looped += bash_word_is(word, "do");
		l->looped -= bash_word_is(word, "done") && l->looped > 0;
		begin_command(l);
	} else if (bash_word_is(word, "esac")) {
		l->ending = ESAC;
		*ret = false;
	} else if (bash_word_is(word, "case")) {
		*ret = take_case(l);
	} else if (bash_word_is(word, "function")) {
		*ret = take_name(l);
	} else {
		return false;
	}
	return true;
}

static bool take_first(struct lexer *l, const struct word *word)
{
	bool followed;

	if (is_assignment(word))
		return true; /* a command may follow at once */
	if (take_reserved(l, word, &followed))
		return followed;
	l->begins = false;
	l->loops = bash_word_is(word, "for");
	l->command = word->start;
	if (bash_word_is(word, "[["))
		return skip_test(l);
	if (word->plain || bash_word_is(word, "\\trap"))
		l->progress = begin_progress(l, word);
	if (is_definition(l))
		l->progress = NOTHING;
	else if (word->plain && is_of_notebooks(word))
		bash_add_mark(l->marks, l->command, NOTEBOOK_WORD);
	if (l->progress == TRAP)
		bash_add_mark(l->marks, l->command, TRAPS_WORD);
	return true;
}

/* Returns true for a descriptor, such as the 2 of `2>/dev/null`. */
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

	if (!bash_take_word(l, &word))
		return false;
	if (is_descriptor(l, &word) && !l->target)
		return true;
	l->words_end = l->at;
	if (l->target) {
		l->target = false;
		return true;
	}
	l->words++;
	if (l->begins)
		return take_first(l, &word);
	if (l->progress == SOURCES || l->progress == EXITS)
		return true;
	if (l->progress == TRAP || l->progress == BARE_TRAP) {
		take_trap_word(l, &word);
		return true;
	}
	l->progress = word.plain && l->progress == BUILTIN && bash_word_is(&word, "trap") ? TRAP
											  : NOTHING;
	if (l->progress == TRAP) {
		bash_add_mark(l->marks, l->command, TRAPS_WORD);
		l->words = 1;
	}
	return true;
}

/* ---- operators ---- */

static bool handle_newline(struct lexer *l)
{
	l->at++;
	if (l->waits || !bash_skip_documents(l))
		return false;
	begin_command(l);
	return true;
}

static bool handle_redirection(struct lexer *l)
{
	if (bash_next_is(l, "<<<")) {
		l->at += 3;
	} else if (bash_next_is(l, "<<")) {
		l->at += 2;
		return bash_take_document(l);
	} else if (bash_next_is(l, "<(") || bash_next_is(l, ">(")) {
		l->at = bash_skip_commands(l, l->at + 2);
		l->words_end = l->at;
		l->target = false;
		return l->at != NULL;
	} else {
		l->at++;
		while (l->at < l->end && strchr(">|&", *l->at) != NULL)
			l->at++;
	}
	l->target = true;
	return true;
}

/* Skips (( ... )), also of a loop. Returns false if it is one parenthesis within another. */
static bool skip_arithmetic(struct lexer *l)
{
	size_t marks = l->marks->count;
	const char *behind = bash_skip_parentheses(l, l->at + 1);

	if (behind == NULL || behind == l->end || *behind != ')') {
		l->marks->count = marks;
		return false;
	}
	l->at = behind + 1;
	begin_command(l); /* `do` may follow at once */
	return true;
}

static bool handle_open(struct lexer *l)
{
	if (bash_next_is(l, "((") && (l->begins || (l->loops && l->words == 1))) {
		if (skip_arithmetic(l))
			return true;
		if (l->marks->misread++ == LEXER_MISREAD_MAX)
			return false;
	}
	l->at++;
	/* A group, or "name ()". Other uses of a parenthesis are not followed. */
	if (!l->begins && !(l->words == 1 && l->at < l->end && *l->at == ')'))
		return false;
	l->depth++;
	begin_command(l);
	return true;
}

/* Handles a closing parenthesis. An unmatched one ends this list of commands. */
static bool handle_close(struct lexer *l)
{
	l->at++;
	if (l->depth == 0) {
		l->ending = PARENTHESIS;
		return false;
	}
	l->depth--;
	begin_command(l);
	return true;
}

/* Handles ;; and ;& and ;;&. */
static bool handle_clause(struct lexer *l)
{
	l->at += bash_next_is(l, ";;&") ? 3 : 2;
	l->ending = CLAUSE;
	return false;
}

static bool handle_operator(struct lexer *l)
{
	if (bash_next_is(l, ";;") || bash_next_is(l, ";&"))
		return handle_clause(l);
	switch (*l->at) {
	case '(':
		return handle_open(l);
	case ')':
		return handle_close(l);
	case '<':
	case '>':
		return handle_redirection(l);
	case '&':
		if (bash_next_is(l, "&>")) {
			l->at++;
			return handle_redirection(l);
		}
		break;
	case '|':
		l->exits = l->exits && bash_next_is(l, "||"); /* it is for another process */
		break;
	default:
		break;
	}
	l->at++;
	begin_command(l);
	return true;
}

/* Reads one step. Returns true while there is more that can be followed. */
static bool step(struct lexer *l)
{
	char c = *l->at;

	if (lexer_is_blank(c)) {
		l->at++;
		return true;
	}
	if (bash_next_is(l, "\\\n")) {
		l->at += 2;
		return true;
	}
	if (c == '#') {
		skip_comment(l);
		return true;
	}
	if (c == '\n')
		return handle_newline(l);
	if (l->start == NULL)
		l->start = l->at;
	return bash_ends_word(c) ? handle_operator(l) : handle_word(l);
}

/* Reads a list of commands. Returns what ended it. */
static enum ending follow(struct lexer *l)
{
	l->ending = LOST;
	while (l->at < l->end)
		if (!step(l)) {
			if (l->ending != LOST)
				end_command(l);
			return l->ending;
		}
	end_command(l);
	return WHOLE;
}

static struct lexer begin_inner(const struct lexer *outer, const char *at, const char *end)
{
	struct lexer l = { .at = at,
			   .end = end,
			   .inner = true,
			   .nested = outer->nested + 1,
			   .marks = outer->marks };

	l.waits = outer->waits || outer->document_count > 0;
	begin_command(&l);
	return l;
}

const char *bash_skip_commands(struct lexer *outer, const char *at)
{
	struct lexer l = begin_inner(outer, at, outer->end);
	size_t marks = outer->marks->count;

	if (l.nested < LEXER_DEPTH_MAX && follow(&l) == PARENTHESIS && l.document_count == 0)
		return l.at;
	outer->marks->count = marks;
	return NULL;
}

void bash_look_into(struct lexer *outer, const char *at, const char *end)
{
	struct lexer l = begin_inner(outer, at, end);
	size_t marks = outer->marks->count;

	if (l.nested >= LEXER_DEPTH_MAX || follow(&l) != WHOLE)
		outer->marks->count = marks;
}

static bool has_any(const char *code, size_t len, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		if (memmem(code, len, *texts, strlen(*texts)) != NULL)
			return true;
	return false;
}

void trap_commands_mark(const char *code, size_t len, struct buf *out)
{
	static const char *const of_interest[] = { "!", "%", "trap", NULL };
	static const char *const foreign[] = {
		". ", "source ", "eval ", "\"trap\"", "'trap'", NULL
	};
	struct marks marks = { .foreign = has_any(code, len, foreign) };
	struct lexer l = { .at = code, .end = code + len, .marks = &marks };

	begin_command(&l);
	if (marks.foreign || has_any(code, len, of_interest))
		(void)follow(&l);
	bash_put_marks(&marks, code, len, out);
}
