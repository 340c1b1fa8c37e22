/* SPDX-License-Identifier: MIT */
/*
 * lexer.h - the state that trap_commands.c, words.c, documents.c and marks.c share: how far a
 * cell has been read.
 *
 * A function that returns false or NULL could not follow the code: the rest of the cell is unknown.
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

/* The state of recognising a command by its words. */
enum progress { NOTHING, TRAP, BARE_TRAP, BUILTIN, SOURCES, EXITS };

/*
 * The end of a list of commands: the text's end, an unmatched `)` or `;;`, or `esac`; or the code
 * could not be followed.
 */
enum ending { LOST, WHOLE, PARENTHESIS, CLAUSE, ESAC };

/* A place in the code before which a word is inserted. */
struct mark {
	const char *at;
	const char *word;
};

struct marks {
	struct mark list[LEXER_MARKS_MAX];
	size_t count;
	unsigned int misread; /* double parentheses that were no arithmetic and are read again */
	bool foreign;         /* a trap may come from what the code sources or evaluates */
};

struct word {
	const char *start;
	size_t len;
	bool plain; /* literal: no quotes, nothing to expand */
};

/* A here-document that begins after the next line end. */
struct document {
	struct word ending;
	bool quoted; /* a backslash at a line end is literal */
	bool tabs;   /* leading tabs of its lines are ignored */
};

struct lexer {
	const char *at;
	const char *end;
	bool begins;       /* the next word is the first of a command */
	bool target;       /* the next word is the target of a redirection */
	bool loops;        /* the command is `for` */
	bool inner;        /* in a substitution */
	bool waits;        /* a here-document outside of it would begin at its first line end */
	size_t words;      /* of the current command */
	bool resets;       /* of `trap`: it resets traps */
	bool exits;        /* of `trap`: EXIT is among its signals */
	bool dashes;       /* of `trap`: -- came first */
	bool lists;        /* of `trap`: -p came first */
	const char *start; /* of the command, including assignments and redirections before it */
	const char *command;
	const char *words_end; /* of the current command */
	enum progress progress;
	enum ending ending;
	unsigned int depth;  /* of open parentheses */
	unsigned int looped; /* in loops */
	unsigned int nested; /* in `case` and in expansions */
	struct document documents[LEXER_DOCUMENTS_MAX];
	size_t document_count;
	struct marks *marks;
};

static inline bool lexer_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* ---- marks.c ---- */

/* Adds a mark, unless there is one at `at`. */
void bash_add_mark(struct marks *marks, const char *at, const char *word);
void bash_remove_mark(struct marks *marks, const char *at);
void bash_rename_mark(struct marks *marks, const char *at, const char *word);

/* Appends the code, with the word of each mark inserted. */
void bash_put_marks(const struct marks *marks, const char *code, size_t len, struct buf *out);

/* ---- words.c ---- */

bool bash_ends_word(char c);
bool bash_word_is(const struct word *word, const char *text);
bool bash_word_in(const struct word *word, const char *const *texts);

bool bash_next_is(const struct lexer *l, const char *text);
bool bash_take_word(struct lexer *l, struct word *ret);

/* Returns the position after the parenthesis that closes the one at `at`. */
const char *bash_skip_parentheses(struct lexer *l, const char *at);

/* ---- documents.c ---- */

/* Reads the word after "<<" that ends a here-document. */
bool bash_take_document(struct lexer *l);

/* Skips the lines of the pending here-documents, after a line end. */
bool bash_skip_documents(struct lexer *l);

/* ---- trap_commands.c ---- */

/*
 * Reads the commands of a substitution from `at` on. Returns the position after the `)` that closes
 * it.
 */
const char *bash_skip_commands(struct lexer *outer, const char *at);

/* Reads the commands between two backquotes. If they cannot be followed, they get no marks. */
void bash_look_into(struct lexer *outer, const char *at, const char *end);

#endif
