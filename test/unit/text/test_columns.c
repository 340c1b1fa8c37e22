/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "text/columns.h"

#define HAN "\xe5\xb0\x8f"       /* two columns */
#define ACUTE "\xcc\x81"         /* none: joins the character before it */
#define E_ACUTE "\xc3\xa9"       /* one */
#define SMILE "\xf0\x9f\x98\x80" /* two */

static void wide_characters_take_two_columns_and_marks_none(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
	} cases[] = {
		{ "", 0 },        { "plain", 5 },     { "/a/" HAN HAN, 7 },
		{ "e" ACUTE, 1 }, { E_ACUTE "t", 2 }, { SMILE "!", 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(columns_count(cases[i].text, strlen(cases[i].text)),
				 cases[i].columns);
}

static void a_cut_fits_and_keeps_characters_whole(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *head;
		const char *tail;
	} cases[] = {
		{ "abc", 2, "ab", "bc" },
		{ "abc", 9, "abc", "abc" },
		{ HAN HAN HAN, 4, HAN HAN, HAN HAN },
		{ HAN HAN HAN, 3, HAN, HAN },
		{ "e" ACUTE "te" ACUTE, 1, "e" ACUTE, "e" ACUTE },
		{ HAN "a", 0, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].text);
		size_t head = columns_head(cases[i].text, len, cases[i].columns);

		assert_int_equal(head, strlen(cases[i].head));
		assert_memory_equal(cases[i].text, cases[i].head, head);
		assert_string_equal(cases[i].text +
					    columns_tail(cases[i].text, len, cases[i].columns),
				    cases[i].tail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_characters_take_two_columns_and_marks_none),
		cmocka_unit_test(a_cut_fits_and_keeps_characters_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
