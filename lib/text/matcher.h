/* SPDX-License-Identifier: MIT */
/*
 * matcher.h - many strings looked for at once, in one pass over a text (Aho and Corasick,
 * "Efficient string matching", 1975). The time is linear in the text, whatever stands in it.
 */
#ifndef TEXT_MATCHER_H
#define TEXT_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct matcher;

enum { MATCHER_START = 0 };

struct matcher *matcher_new(void);
/* NULL is allowed. */
void matcher_free(struct matcher *matcher);
/* A string that is not empty; `tag` comes back when it is found. */
void matcher_add(struct matcher *matcher, const char *string, size_t len, uint32_t tag);
/* After the last string and before the first step. */
void matcher_finish(struct matcher *matcher);

/* The state after one more byte; the text begins in MATCHER_START. */
uint32_t matcher_step(const struct matcher *matcher, uint32_t state, unsigned char byte);
/* How many of the last bytes begin a string. */
size_t matcher_depth(const struct matcher *matcher, uint32_t state);
/* The tag of a string that begins so; in another state than MATCHER_START. */
uint32_t matcher_begun(const struct matcher *matcher, uint32_t state);
/* The length of the longest string that ends here, 0 when none does. */
size_t matcher_found(const struct matcher *matcher, uint32_t state, uint32_t *ret_tag);
/* Whether a string begins with this byte. */
bool matcher_begins(const struct matcher *matcher, unsigned char byte);
/* Bytes of the longest string. */
size_t matcher_longest(const struct matcher *matcher);

#endif
