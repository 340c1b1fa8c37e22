/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/normal.h"

static void decomposed_characters_become_composed_ones(void **state)
{
	cleanup_free char *letter = normal_compose("u\xcc\x88"
						   "ber");
	cleanup_free char *kana = normal_compose("\xe3\x83\x86\xe3\x82\x99");

	(void)state;
	assert_string_equal(letter, "\xc3\xbc"
				    "ber");
	assert_string_equal(kana, "\xe3\x83\x87");
}

static void other_texts_stay_as_they_are(void **state)
{
	cleanup_free char *empty = normal_compose("");
	cleanup_free char *composed = normal_compose("\xc3\xbc");
	cleanup_free char *broken = normal_compose("a\xff");

	(void)state;
	assert_string_equal(empty, "");
	assert_string_equal(composed, "\xc3\xbc");
	assert_string_equal(broken, "a\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decomposed_characters_become_composed_ones),
		cmocka_unit_test(other_texts_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
