/* SPDX-License-Identifier: MIT */
/*
 * matcher.h - many strings looked for at once, in one pass over a text (Aho and Corasick,
 * "Efficient string matching", 1975). The time is linear in the text, whatever stands in it.
 */
#ifndef REDACT_MATCHER_H
#define REDACT_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATCHER_START = 0 };

/* Of the trie. Children are a list: all but the root's are nearly always one. */
struct matcher_node {
	uint32_t child;
	uint32_t sibling;
	uint32_t fail; /* the longest true suffix that is in the trie too */
	uint32_t depth;
	uint32_t found; /* length of the longest string that ends here, or 0 */
	uint32_t tag;   /* of that */
	uint32_t begun; /* the tag of the first string that begins so */
	unsigned char byte;
};

/* What is read here for each byte of a text stands here, so that no call is made for it. */
struct matcher {
	struct matcher_node *nodes; /* the first is the root */
	size_t count;
	size_t cap;
	uint32_t first[256]; /* the root's children */
	size_t longest;
};

struct matcher *matcher_new(void);
/* NULL is allowed. */
void matcher_free(struct matcher *matcher);
/* A string that is not empty; `tag` comes back when it is found. */
void matcher_add(struct matcher *matcher, const char *string, size_t len, uint32_t tag);
/* After the last string and before the first step. */
void matcher_finish(struct matcher *matcher);

/* The child of a state that has this byte; 0, which is nobody's child, for none. */
static inline uint32_t matcher_child(const struct matcher *matcher, uint32_t state,
				     unsigned char byte)
{
	uint32_t child;

	if (state == MATCHER_START)
		return matcher->first[byte];
	child = matcher->nodes[state].child;
	while (child != 0 && matcher->nodes[child].byte != byte)
		child = matcher->nodes[child].sibling;
	return child;
}

/* The state after one more byte; the text begins in MATCHER_START. */
static inline uint32_t matcher_step(const struct matcher *matcher, uint32_t state,
				    unsigned char byte)
{
	uint32_t next;

	while ((next = matcher_child(matcher, state, byte)) == 0 && state != MATCHER_START)
		state = matcher->nodes[state].fail;
	return next;
}

/* How many of the last bytes begin a string. */
static inline size_t matcher_depth(const struct matcher *matcher, uint32_t state)
{
	return matcher->nodes[state].depth;
}

/* The tag of a string that begins so; in another state than MATCHER_START. */
static inline uint32_t matcher_begun(const struct matcher *matcher, uint32_t state)
{
	return matcher->nodes[state].begun;
}

/* The length of the longest string that ends here, 0 when none does. */
static inline size_t matcher_found(const struct matcher *matcher, uint32_t state, uint32_t *ret_tag)
{
	*ret_tag = matcher->nodes[state].tag;
	return matcher->nodes[state].found;
}

/* Whether a string begins with this byte. */
static inline bool matcher_begins(const struct matcher *matcher, unsigned char byte)
{
	return matcher->first[byte] != 0;
}

/* Bytes of the longest string. */
static inline size_t matcher_longest(const struct matcher *matcher)
{
	return matcher->longest;
}

#endif
