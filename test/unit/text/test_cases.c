/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/cases.h"

static void assert_cases(const char *text, const char *lower, const char *upper)
{
	size_t lower_len;
	size_t upper_len;
	cleanup_free char *small = cases_lower(text, strlen(text), &lower_len);
	cleanup_free char *large = cases_upper(text, strlen(text), &upper_len);

	assert_int_equal(lower_len, strlen(lower));
	assert_memory_equal(small, lower, lower_len);
	assert_int_equal(upper_len, strlen(upper));
	assert_memory_equal(large, upper, upper_len);
}

static void letters_of_all_alphabets_have_two_cases(void **state)
{
	(void)state;
	assert_cases("aBc 1", "abc 1", "ABC 1");
	assert_cases("\xc3\x84pfel", "\xc3\xa4pfel", "\xc3\x84PFEL");
	assert_cases("\xd0\x96\xd0\xb6", "\xd0\xb6\xd0\xb6", "\xd0\x96\xd0\x96");
	assert_cases("stra\xc3\x9f", "stra\xc3\x9f", "STRASS");
}

static void what_is_no_text_is_replaced(void **state)
{
	(void)state;
	assert_cases("\xff"
		     "A",
		     "\xef\xbf\xbd"
		     "a",
		     "\xef\xbf\xbd"
		     "A");
}

static void characters_are_taken_one_by_one(void **state)
{
	size_t len;

	(void)state;
	assert_int_equal(cases_first("", 0, &len), 0);
	assert_int_equal(len, 0);
	assert_int_equal(cases_first("ab", 2, &len), 'a');
	assert_int_equal(len, 1);
	assert_int_equal(cases_first("\xc3\x84p", 3, &len), 0xc4);
	assert_int_equal(len, 2);
	assert_int_equal(cases_first("\xc3", 1, &len), 0xfffd);
	assert_int_equal(len, 1);
}

static void cases_of_one_letter_are_the_same(void **state)
{
	(void)state;
	assert_true(cases_are_same('a', 'A'));
	assert_true(cases_are_same(0xc4, 0xe4));
	assert_false(cases_are_same('a', 'b'));
	assert_false(cases_are_same('@', '`'));
	assert_false(cases_are_same('a', 0xe4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_of_all_alphabets_have_two_cases),
		cmocka_unit_test(what_is_no_text_is_replaced),
		cmocka_unit_test(characters_are_taken_one_by_one),
		cmocka_unit_test(cases_of_one_letter_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
