/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/identifier.h"

static size_t span(const char *s)
{
	return identifier_span(s, strlen(s));
}

static void names_of_any_script_are_passed_whole(void **state)
{
	static const char *const names[] = { "",    "a b;\t", "größe",     "名前",
					     "имя", "नाम",    "e\xcc\x81", "٣" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(span(names[i]), strlen(names[i]));
}

static void blanks_signs_and_what_is_not_seen_end_it(void **state)
{
	static const char *const others[] = { "\xc2\x85",
					      "\xc2\xa0",
					      "\xe1\x9a\x80",
					      "\xe2\x80\x80",
					      "\xe2\x80\x8b",
					      "\xe2\x80\xa8",
					      "\xe2\x80\xa9",
					      "\xe2\x80\xaf",
					      "\xe2\x81\x9f",
					      "\xe3\x80\x80",
					      "\xef\xbb\xbf",
					      "\xe1\xa0\x8e",
					      "£",
					      "；",
					      "\xff",
					      "\xc3",
					      "\xed\xa0\x80",
					      "\xef\xbf\xbd" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup_free char *text = xasprintf("a\xc3\xb1%s", others[i]);

		assert_int_equal(span(text), 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_any_script_are_passed_whole),
		cmocka_unit_test(blanks_signs_and_what_is_not_seen_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
