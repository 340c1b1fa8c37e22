/* SPDX-License-Identifier: MIT */
/*
 * dotenv.h - files of NAME=value lines, by python-dotenv's grammar.
 *
 * As its parser.py: `export`, quoted names and values (which may span lines), escapes, trailing
 * comments, CR, LF and CRLF. Different: blanks are those of ASCII, and a byte order mark at the
 * start is skipped.
 */
#ifndef CONFIG_DOTENV_H
#define CONFIG_DOTENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { DOTENV_VALUE_MAX = 65536 }; /* bytes of a value after expansion */

/* Borrows the text. */
struct dotenv {
	const char *data;
	size_t len;
	size_t at;
	size_t line;
};

struct dotenv_entry {
	char *name;  /* NULL when the line could not be read */
	char *value; /* NULL when the name stands alone */
	size_t line; /* where it starts, from 1 */
};

/* Where ${NAME} is looked up; NULL when there is none. Embedded in the caller's own struct. */
struct dotenv_scope {
	const char *(*find)(struct dotenv_scope *scope, const char *name);
};

void dotenv_init(struct dotenv *d, const char *data, size_t len);
/* The next entry; blank lines and comments are passed over. False at the end. */
bool dotenv_next(struct dotenv *d, struct dotenv_entry *ret_entry);
void dotenv_entry_release(struct dotenv_entry *entry);
#define cleanup_dotenv_entry __attribute__((cleanup(dotenv_entry_release)))
/*
 * `value` with ${NAME} and ${NAME:-default} replaced, once; the caller frees it. ERR_LIMIT when it
 * grows past DOTENV_VALUE_MAX.
 */
char *dotenv_expand(const char *value, struct dotenv_scope *scope, struct err *err) MUST_CHECK;

#endif
