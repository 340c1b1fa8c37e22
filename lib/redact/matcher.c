/* SPDX-License-Identifier: MIT */
/*
 * matcher.c - builds the automaton. Links of suffixes are set breadth first, because each refers to
 * a shorter string. A node inherits the match of its suffix only if it has none of its own, so the
 * longest string that ends at a position is known without a list.
 */
#include "redact/matcher.h"

#include <stdlib.h>

#include "base/mem.h"

static uint32_t add_node(struct matcher *m, unsigned char byte, uint32_t depth, uint32_t tag)
{
	if (m->count == m->cap) {
		m->cap = m->cap > 0 ? 2 * m->cap : 64;
		m->nodes = xrealloc(m->nodes, m->cap * sizeof(*m->nodes));
	}
	m->nodes[m->count] =
		(struct matcher_node){ .byte = byte, .depth = depth, .prefix_tag = tag };
	return (uint32_t)m->count++;
}

struct matcher *matcher_new(void)
{
	struct matcher *m = xcalloc(1, sizeof(*m));

	(void)add_node(m, 0, 0, 0);
	return m;
}

void matcher_free(struct matcher *m)
{
	if (m == NULL)
		return;
	free(m->nodes);
	free(m);
}

void matcher_add(struct matcher *m, const char *string, size_t len, uint32_t tag)
{
	uint32_t state = MATCHER_START;

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)string[i];
		uint32_t next = matcher_child(m, state, byte);

		if (next == 0) {
			next = add_node(m, byte, (uint32_t)i + 1, tag);
			m->nodes[next].sibling = m->nodes[state].child;
			m->nodes[state].child = next;
			if (state == MATCHER_START)
				m->first[byte] = next;
		}
		state = next;
	}
	m->nodes[state].found = (uint32_t)len;
	m->nodes[state].tag = tag;
	if (len > m->longest)
		m->longest = len;
}

/* Sets the links of a node, after those of its parent. */
static void link_node(struct matcher *m, uint32_t parent, uint32_t state)
{
	struct matcher_node *node = &m->nodes[state];
	const struct matcher_node *suffix;

	node->fail = parent == MATCHER_START ? MATCHER_START
					     : matcher_step(m, m->nodes[parent].fail, node->byte);
	suffix = &m->nodes[node->fail];
	if (node->found == 0 && suffix->found > 0) {
		node->found = suffix->found;
		node->tag = suffix->tag;
	}
}

/* Visits nodes breadth first, because a suffix is shorter than its string. */
void matcher_finish(struct matcher *m)
{
	uint32_t *queue = xcalloc(m->count, sizeof(*queue));
	size_t queued = 1; /* the root is the first */

	for (size_t i = 0; i < queued; i++) {
		uint32_t child = m->nodes[queue[i]].child;

		for (; child != 0; child = m->nodes[child].sibling) {
			link_node(m, queue[i], child);
			queue[queued++] = child;
		}
	}
	free(queue);
}
