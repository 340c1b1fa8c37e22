/* SPDX-License-Identifier: MIT */
/*
 * lexer.h - what installs.c, words.c, documents.c and marks.c have in common: how far a cell has
 * been read.
 *
 * A function that returns false, or NULL, could not tell what follows: from there on nothing is
 * known.
 */
#ifndef RUNTIME_BASH_LEXER_H
#define RUNTIME_BASH_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	LEXER_MARKS_MAX = 64,
	LEXER_DOCUMENTS_MAX = 8,
	LEXER_DEPTH_MAX = 64,
	LEXER_MISREAD_MAX = 16
};

/* How far a command's words have gone towards installing something. */
enum progress { NOTHING, PIP, PYTHON, PYTHON_M, UV, NPM, FOUND, TRAP, BARE_TRAP, BUILTIN };

/* What ended a list of commands: its text, a `)` or `;;` that nothing in it began, `esac`; or all
 * is lost. */
enum ending { LOST, WHOLE, PARENTHESIS, CLAUSE, ESAC };

/* A command that gets a word before it. */
struct mark {
	const char *at;
	const char *word;
};

struct marks {
	struct mark list[LEXER_MARKS_MAX];
	size_t count;
	unsigned int misread; /* what was no arithmetic, and is read again */
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
	bool loops;   /* the command is `for` */
	bool inner;   /* of a substitution: nothing is installed here */
	bool waits;   /* a here-document around it, which would begin at its first line's end */
	size_t words; /* of the command so far */
	bool resets;  /* of a trap: what it was before */
	bool exits;   /* of a trap: EXIT is among its signals */
	bool dashes;  /* of a trap: -- came first */
	bool lists;   /* of a trap: -p did */
	const char *start; /* of the command, with assignments and redirections before it */
	const char *command;
	const char *words_end; /* of the command so far */
	enum progress progress;
	enum ending ending;
	unsigned int depth;  /* of parentheses */
	unsigned int nested; /* in `case` and in what is expanded */
	struct document documents[LEXER_DOCUMENTS_MAX];
	size_t document_count;
	struct marks *marks;
};

static inline bool lexer_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* ---- marks.c ---- */

/* One place has one mark: the first stays. */
void bash_add_mark(struct marks *marks, const char *at, const char *word);
void bash_remove_mark(struct marks *marks, const char *at);
void bash_rename_mark(struct marks *marks, const char *at, const char *word);

/* Appends the code, with each mark's word in its place. */
void bash_put_marks(const struct marks *marks, const char *code, size_t len, struct buf *out);

/* ---- words.c ---- */

bool bash_ends_word(char c);
bool bash_word_is(const struct word *word, const char *text);
bool bash_word_in(const struct word *word, const char *const *texts);
bool bash_word_begins(const struct word *word, const char *text);

bool bash_next_is(const struct lexer *l, const char *text);
bool bash_take_word(struct lexer *l, struct word *ret);

/* From the parenthesis at `at` to behind its partner, whatever stands between them. */
const char *bash_skip_parentheses(struct lexer *l, const char *at);

/* ---- documents.c ---- */

/* Behind "<<": takes the word that ends a here-document. */
bool bash_take_document(struct lexer *l);

/* Behind a line's end: skips the lines of the documents that begin there. */
bool bash_skip_documents(struct lexer *l);

/* ---- installs.c ---- */

/* Reads the commands from `at` on, which `outer` finds in a substitution, to behind the `)` that
 * closes it. */
const char *bash_skip_commands(struct lexer *outer, const char *at);

/* Reads the commands of `...`, which lie between the two. Where they cannot be followed, they get
 * no marks. */
void bash_look_into(struct lexer *outer, const char *at, const char *end);

#endif
