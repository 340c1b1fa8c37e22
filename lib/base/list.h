/* SPDX-License-Identifier: MIT */
/* list.h - a doubly linked list whose nodes are members of their owners. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

/* A head or a node. A node outside any list points at itself. */
struct list {
	struct list *prev;
	struct list *next;
};

/* Makes an empty list, or a node that is in no list. */
void list_init(struct list *node);
bool list_empty(const struct list *head);
size_t list_len(const struct list *head);
/* Adds `node` at the end. It must be in no list. */
void list_append(struct list *head, struct list *node);
/* Takes `node` out of its list. It may be in no list. */
void list_remove(struct list *node);

#define list_entry(node, type, member) container_of(node, type, member)
/*
 * Visits the entries of `type` whose `member` is a node of `head`. The loop declares `entry`, which
 * may be removed within the body.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): `entry` is declared, and has none */
#define list_for_each(type, entry, head, member)                                                   \
	for (type *entry = list_entry((head)->next, type, member),                                 \
		  *entry##_next = list_entry(entry->member.next, type, member);                    \
	     &entry->member != (head);                                                             \
	     entry = entry##_next, entry##_next = list_entry(entry->member.next, type, member))
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
