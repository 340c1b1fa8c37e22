/* SPDX-License-Identifier: MIT */
/* declaration.h - what bash says by `declare -p` and `declare -F`, as a list of names. */
#ifndef RUNTIME_BASH_DECLARATION_H
#define RUNTIME_BASH_DECLARATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct declaration {
	const char *name; /* not NUL-terminated, as value */
	size_t name_len;
	const char *value; /* as it was printed, with its quotes; NULL when there is none */
	size_t value_len;
	const char *type; /* static: "string", "integer", "array", "map", "function" ... */
	size_t count;     /* of an array's elements */
};

/*
 * The next declaration from *at on, which is moved behind it; false at the end. What is no
 * declaration is passed over. The pointers go into the text.
 */
bool declaration_next(const char **at, const char *end, struct declaration *ret);
/* Not what bash or the driver put there: whatever it holds, nobody wants to hear of it. */
bool declaration_is_users(const struct declaration *declaration);
/* Its length in characters, or number of elements; "" for functions and what has no value. */
void declaration_shape(const struct declaration *declaration, struct buf *out);
/* What a scalar holds, at most `max_bytes`, cut between characters; nothing for others. */
void declaration_preview(const struct declaration *declaration, size_t max_bytes, struct buf *out);
/* Different for different values, most probably. */
uint64_t declaration_hash(const struct declaration *declaration);
/* A shell-quoted word ('...', "...", $'...', \x, plain) from `at`: its end, NULL when it has none.
 */
const char *declaration_word_end(const char *at, const char *end);

#endif
