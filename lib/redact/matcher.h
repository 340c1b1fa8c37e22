/* SPDX-License-Identifier: MIT */
/*
 * matcher.h - searches a text for many strings in one pass (Aho and Corasick, "Efficient string
 * matching", 1975). The time is linear in the text, for any text.
 */
#ifndef REDACT_MATCHER_H
#define REDACT_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATCHER_START = 0 };

/* A node of the trie. Children are a list, because all but the root's are nearly always one. */
struct matcher_node {
	uint32_t child;
	uint32_t sibling;
	uint32_t fail; /* the longest proper suffix that is in the trie too */
	uint32_t depth;
	uint32_t found;      /* length of the longest string that ends here, or 0 */
	uint32_t tag;        /* of that string */
	uint32_t prefix_tag; /* tag of the first string that begins so */
	unsigned char byte;
};

/* The struct is public so that stepping through a text costs no call for each byte. */
struct matcher {
	struct matcher_node *nodes; /* the first is the root */
	size_t count;
	size_t cap;
	uint32_t first[256]; /* the root's children */
	size_t longest;
};

struct matcher *matcher_new(void);
/* Frees it. May be NULL. */
void matcher_free(struct matcher *matcher);
/* Adds a string, which must not be empty. `tag` is returned when it is found. */
void matcher_add(struct matcher *matcher, const char *string, size_t len, uint32_t tag);
/* Completes the matcher. Must be called after the last string and before the first step. */
void matcher_finish(struct matcher *matcher);

/* Returns the child of a state for this byte; 0, which is never a child, if there is none. */
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

/* Returns the state after one more byte. A text begins in MATCHER_START. */
static inline uint32_t matcher_step(const struct matcher *matcher, uint32_t state,
				    unsigned char byte)
{
	uint32_t next;

	while ((next = matcher_child(matcher, state, byte)) == 0 && state != MATCHER_START)
		state = matcher->nodes[state].fail;
	return next;
}

/* Returns how many of the last bytes are the beginning of a string. */
static inline size_t matcher_depth(const struct matcher *matcher, uint32_t state)
{
	return matcher->nodes[state].depth;
}

/* Returns the tag of a string that begins so. The state must not be MATCHER_START. */
static inline uint32_t matcher_prefix_tag(const struct matcher *matcher, uint32_t state)
{
	return matcher->nodes[state].prefix_tag;
}

/* Returns the length of the longest string that ends here, 0 if none does. */
static inline size_t matcher_found(const struct matcher *matcher, uint32_t state, uint32_t *ret_tag)
{
	*ret_tag = matcher->nodes[state].tag;
	return matcher->nodes[state].found;
}

/* Returns whether a string begins with this byte. */
static inline bool matcher_begins(const struct matcher *matcher, unsigned char byte)
{
	return matcher->first[byte] != 0;
}

/* Returns the length of the longest string in bytes. */
static inline size_t matcher_longest(const struct matcher *matcher)
{
	return matcher->longest;
}

#endif
