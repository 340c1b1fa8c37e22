/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/percent.h"

static void assert_decodes(const char *text, const char *expected)
{
	cleanup_free char *bytes = percent_decode(text, strlen(text));

	assert_non_null(bytes);
	assert_string_equal(bytes, expected);
}

static void only_unreserved_characters_and_slashes_stay(void **state)
{
	cleanup_free char *text = percent_encode("output/a-b_c.d~E 9%?#\xc3\xa9\xff\n");

	(void)state;
	assert_string_equal(text, "output/a-b_c.d~E%209%25%3F%23%C3%A9%FF%0A");
}

static void every_byte_comes_back(void **state)
{
	char bytes[256];
	cleanup_free char *text = NULL;

	(void)state;
	for (int i = 1; i < 256; i++)
		bytes[i - 1] = (char)i;
	bytes[255] = '\0';
	text = percent_encode(bytes);
	assert_decodes(text, bytes);
}

static void digits_are_read_in_either_case(void **state)
{
	(void)state;
	assert_decodes("%c3%A9%2f", "\xc3\xa9/");
}

static void a_percent_sign_alone_stands_for_itself(void **state)
{
	(void)state;
	assert_decodes("100%", "100%");
	assert_decodes("%4", "%4");
	assert_decodes("%zz %4g%41", "%zz %4gA");
}

static void what_lies_past_the_length_is_not_read(void **state)
{
	cleanup_free char *bytes = percent_decode("a%41", 3);

	(void)state;
	assert_non_null(bytes);
	assert_string_equal(bytes, "a%4");
}

static void a_nul_is_refused(void **state)
{
	(void)state;
	assert_null(percent_decode("a%00b", 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_unreserved_characters_and_slashes_stay),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(digits_are_read_in_either_case),
		cmocka_unit_test(a_percent_sign_alone_stands_for_itself),
		cmocka_unit_test(what_lies_past_the_length_is_not_read),
		cmocka_unit_test(a_nul_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
