/* SPDX-License-Identifier: MIT */
/* test_notices.c - notices are joined in order, and equal ones are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "session/notices.h"

static void expect(struct notices *notices, const char *text)
{
	char *taken = notices_take(notices);

	assert_string_equal(taken, text);
	free(taken);
	assert_null(notices_take(notices));
}

static void each_is_a_line_in_the_order_of_the_first(void **state)
{
	struct notices notices = { 0 };

	(void)state;
	assert_null(notices_take(&notices));
	notices_add(&notices, "b");
	notices_add(&notices, "a");
	expect(&notices, "b\na");
}

static void the_same_is_said_once_and_counted(void **state)
{
	struct notices notices = { 0 };

	(void)state;
	for (int i = 0; i < 32; i++)
		notices_add(&notices, "It was killed.");
	notices_add(&notices, "Other.");
	notices_add(&notices, "It was killed.");
	expect(&notices, "It was killed. (33 times)\nOther.");
	notices_add(&notices, "It was killed.");
	expect(&notices, "It was killed.");
}

static void of_too_many_only_the_number_is_told(void **state)
{
	struct notices notices = { 0 };
	char text[8];
	char *taken;

	(void)state;
	for (int i = 0; i < NOTICES_MAX + 2; i++) {
		(void)snprintf(text, sizeof(text), "%d", i);
		notices_add(&notices, text);
	}
	notices_add(&notices, "0");
	taken = notices_take(&notices);
	assert_non_null(strstr(taken, "0 (2 times)\n1\n"));
	assert_non_null(strstr(taken, "\n15\n2 more messages of this kind are left out."));
	free(taken);
}

static void a_sure_one_is_not_crowded_out(void **state)
{
	struct notices notices = { 0 };
	char text[16];
	char *taken;

	(void)state;
	notices_add_sure(&notices, "first");
	for (int i = 0; i < NOTICES_MAX; i++) {
		(void)snprintf(text, sizeof(text), "other %d", i);
		notices_add(&notices, text);
	}
	notices_add_sure(&notices, "first");
	notices_add_sure(&notices, "last");
	taken = notices_take(&notices);
	assert_non_null(strstr(taken, "first (2 times)\nother 0\n"));
	assert_non_null(strstr(taken, "\nother 13\nlast\n2 more messages of this kind "));
	free(taken);
	for (int i = 0; i < NOTICES_MAX + 2; i++) {
		(void)snprintf(text, sizeof(text), "sure %d", i);
		notices_add_sure(&notices, text);
	}
	taken = notices_take(&notices);
	assert_non_null(strstr(taken, "sure 0\n"));
	assert_non_null(strstr(taken, "\nsure 15\n2 more messages of this kind "));
	free(taken);
}

static void what_nobody_takes_is_released(void **state)
{
	struct notices notices = { 0 };

	(void)state;
	notices_add(&notices, "a");
	notices_release(&notices);
	assert_null(notices_take(&notices));
}

static void a_part_is_cut_wherever_it_is(void **state)
{
	struct notices notices = { 0 };

	(void)state;
	notices_add(&notices, "one two three");
	notices_add(&notices, "four");
	notices_cut(&notices, " two");
	notices_cut(&notices, "five");
	expect(&notices, "one three\nfour");
}

static void one_that_is_withdrawn_is_not_shown(void **state)
{
	struct notices notices = { 0 };

	(void)state;
	notices_add(&notices, "a");
	notices_add_about(&notices, 7, "a");
	notices_add_about(&notices, 8, "b");
	notices_withdraw(&notices, 7);
	notices_withdraw(&notices, 7);
	expect(&notices, "a\nb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_a_line_in_the_order_of_the_first),
		cmocka_unit_test(the_same_is_said_once_and_counted),
		cmocka_unit_test(of_too_many_only_the_number_is_told),
		cmocka_unit_test(a_sure_one_is_not_crowded_out),
		cmocka_unit_test(what_nobody_takes_is_released),
		cmocka_unit_test(a_part_is_cut_wherever_it_is),
		cmocka_unit_test(one_that_is_withdrawn_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
