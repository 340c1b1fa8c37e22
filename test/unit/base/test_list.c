/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "aborts.h"
#include "base/list.h"

struct item {
	char name;
	struct list node;
};

/* The names in order, and the same backwards, both must agree. */
static const char *names(struct list *head, char *out)
{
	size_t len = 0;
	size_t back = 0;

	for (struct list *node = head->next; node != head; node = node->next)
		out[len++] = list_entry(node, struct item, node)->name;
	out[len] = '\0';
	for (struct list *node = head->prev; node != head; node = node->prev)
		assert_int_equal(out[len - ++back], list_entry(node, struct item, node)->name);
	assert_int_equal(back, len);
	return out;
}

static void fill(struct list *head, struct item items[3])
{
	list_init(head);
	for (int i = 0; i < 3; i++) {
		items[i].name = (char)('a' + i);
		list_init(&items[i].node);
		list_append(head, &items[i].node);
	}
}

static void items_stay_in_the_order_they_came(void **state)
{
	struct item items[3];
	struct list head;
	char out[8];

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	fill(&head, items);
	assert_false(list_empty(&head));
	assert_string_equal(names(&head, out), "abc");
	list_remove(&items[1].node);
	assert_string_equal(names(&head, out), "ac");
	list_append(&head, &items[1].node);
	assert_string_equal(names(&head, out), "acb");
}

static void removing_twice_is_harmless(void **state)
{
	struct item items[3];
	struct list head;
	char out[8];

	(void)state;
	fill(&head, items);
	list_remove(&items[0].node);
	list_remove(&items[0].node);
	assert_string_equal(names(&head, out), "bc");
	assert_true(list_empty(&items[0].node));
}

static void every_node_may_be_removed_while_walking(void **state)
{
	struct item items[3];
	struct list head;
	int seen = 0;

	(void)state;
	fill(&head, items);
	list_for_each (struct item, item, &head, node) {
		list_remove(&item->node);
		seen++;
	}
	assert_int_equal(seen, 3);
	assert_true(list_empty(&head));
}

static void append_twice(void)
{
	struct item items[3];
	struct list head;

	fill(&head, items);
	list_append(&head, &items[0].node);
}

static void a_node_is_in_one_list_only(void **state)
{
	(void)state;
	assert_aborts(append_twice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_stay_in_the_order_they_came),
		cmocka_unit_test(removing_twice_is_harmless),
		cmocka_unit_test(every_node_may_be_removed_while_walking),
		cmocka_unit_test(a_node_is_in_one_list_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
