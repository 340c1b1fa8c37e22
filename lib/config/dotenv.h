/* SPDX-License-Identifier: MIT */
/*
 * dotenv.h - files of NAME=value lines, by python-dotenv's grammar.
 *
 * It follows parser.py of python-dotenv: `export`, quoted names and values (which may span lines),
 * escapes, trailing comments, CR, LF and CRLF. Two things differ: only ASCII blanks count, and a
 * byte order mark at the start is skipped.
 */
#ifndef CONFIG_DOTENV_H
#define CONFIG_DOTENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { DOTENV_VALUE_MAX = 65536 }; /* bytes of a value after expansion */

/* A position in a text, which is borrowed. */
struct dotenv {
	const char *data;
	size_t len;
	size_t at;
	size_t line;
};

struct dotenv_entry {
	char *name;  /* NULL if the line could not be read */
	char *value; /* NULL if the name stands alone */
	size_t line; /* where it starts, from 1 */
};

/* Looks up ${NAME}; returns NULL if there is none. Embedded in a struct of the caller. */
struct dotenv_scope {
	const char *(*find)(struct dotenv_scope *scope, const char *name);
};

void dotenv_init(struct dotenv *d, const char *data, size_t len);
/*
 * Reads the next entry and skips blank lines and comments. Returns false at the end. The caller
 * releases the entry.
 */
bool dotenv_next(struct dotenv *d, struct dotenv_entry *ret_entry);
void dotenv_entry_release(struct dotenv_entry *entry);
#define cleanup_dotenv_entry __attribute__((cleanup(dotenv_entry_release)))
/*
 * Returns `value` with ${NAME} and ${NAME:-default} replaced once. The caller frees it. Returns
 * NULL and sets ERR_LIMIT past DOTENV_VALUE_MAX.
 */
char *dotenv_expand(const char *value, struct dotenv_scope *scope, struct err *err) MUST_CHECK;

#endif
