/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <time.h>
#include <cmocka.h>

#include "base/clock.h"

static void the_clock_is_monotonic_and_in_its_unit(void **state)
{
	struct timespec before;
	struct timespec after;
	uint64_t us;

	(void)state;
	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	us = clock_us();
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(us >= (uint64_t)before.tv_sec * 1000000U + (uint64_t)before.tv_nsec / 1000U);
	assert_true(us <= (uint64_t)after.tv_sec * 1000000U + (uint64_t)after.tv_nsec / 1000U);
}

static void milliseconds_and_microseconds_are_one_clock(void **state)
{
	uint64_t before = clock_us() / 1000;
	uint64_t ms = clock_ms();

	(void)state;
	assert_in_range(ms, before, clock_us() / 1000);
	assert_true(ms < CLOCK_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_monotonic_and_in_its_unit),
		cmocka_unit_test(milliseconds_and_microseconds_are_one_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
