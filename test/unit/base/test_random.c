/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

static void a_token_is_lower_case_hex_of_the_length_asked_for(void **state)
{
	char token[34];

	(void)state;
	memset(token, 'z', sizeof(token));
	random_hex(token, 32);
	assert_int_equal(strlen(token), 32);
	assert_int_equal(strspn(token, "0123456789abcdef"), 32);
	assert_int_equal(token[33], 'z');
}

static void two_tokens_differ(void **state)
{
	char first[33];
	char second[33];

	(void)state;
	random_hex(first, 32);
	random_hex(second, 32);
	assert_string_not_equal(first, second);
}

static void bytes_that_are_asked_for_are_filled(void **state)
{
	unsigned char first[32] = { 0 };
	unsigned char second[32] = { 0 };

	(void)state;
	random_bytes(first, sizeof(first));
	random_bytes(second, sizeof(second));
	assert_memory_not_equal(first, second, sizeof(first));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_is_lower_case_hex_of_the_length_asked_for),
		cmocka_unit_test(two_tokens_differ),
		cmocka_unit_test(bytes_that_are_asked_for_are_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
