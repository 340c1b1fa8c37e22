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
/* Visits the nodes. `node` may be removed within the body; `next` is a second struct list *. */
#define list_for_each(node, next, head)                                                            \
	for ((node) = (head)->next, (next) = (node)->next; (node) != (head);                       \
	     (node) = (next), (next) = (node)->next)
/*
 * Visits the entries whose `member` is a node of `head`. `entry` may be removed within the body;
 * `next` is a second pointer of its type. After the loop neither points at an entry.
 */
#define list_for_each_entry(entry, next, head, member)                                             \
	for ((entry) = list_entry((head)->next, __typeof__(*(entry)), member),                     \
	    (next) = list_entry((entry)->member.next, __typeof__(*(entry)), member);               \
	     &(entry)->member != (head); (entry) = (next),                                         \
	    (next) = list_entry((entry)->member.next, __typeof__(*(entry)), member))

#endif
