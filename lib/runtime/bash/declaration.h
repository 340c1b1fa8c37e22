/* SPDX-License-Identifier: MIT */
/* declaration.h - parses the output of `declare -p` and `declare -F` into declarations. */
#ifndef RUNTIME_BASH_DECLARATION_H
#define RUNTIME_BASH_DECLARATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct declaration {
	const char *name; /* not NUL-terminated, like value */
	size_t name_len;
	const char *value; /* as printed, with its quotes; NULL if there is none */
	size_t value_len;
	const char *type; /* static: "string", "integer", "array", "map", "function" ... */
	size_t count;     /* elements of an array */
};

/*
 * Parses the next declaration from *at on and moves *at behind it. Returns false at the end. Other
 * text is skipped. The pointers in `ret` borrow from the text.
 */
bool declaration_next(const char **at, const char *end, struct declaration *ret);
/* Returns false for names of bash or of the driver, which are never reported. */
bool declaration_is_users(const struct declaration *declaration);
/*
 * Appends its length in characters, or number of elements; nothing for functions and names without
 * a value.
 */
void declaration_shape(const struct declaration *declaration, struct buf *out);
/*
 * Appends the value of a scalar, at most `max_bytes`, cut between characters; nothing for others.
 */
void declaration_preview(const struct declaration *declaration, size_t max_bytes, struct buf *out);
/* Returns a hash of the declaration, to detect changes. */
uint64_t declaration_hash(const struct declaration *declaration);
/*
 * Returns the end of the shell-quoted word ('...', "...", $'...', \x, plain) at `at`, or NULL if it
 * has none.
 */
const char *declaration_word_end(const char *at, const char *end);

#endif
