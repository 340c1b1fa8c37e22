/* SPDX-License-Identifier: MIT */
/*
 * list.c - the operations of the intrusive list. Removing a node makes it point at itself again, so
 * that it can be removed twice without harm.
 */
#include "base/list.h"

#include <assert.h>

void list_init(struct list *node)
{
	node->prev = node;
	node->next = node;
}

bool list_empty(const struct list *head)
{
	return head->next == head;
}

size_t list_len(const struct list *head)
{
	size_t len = 0;

	for (const struct list *node = head->next; node != head; node = node->next)
		len++;
	return len;
}

void list_append(struct list *head, struct list *node)
{
	assert(node->next == node);
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}
