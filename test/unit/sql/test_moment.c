/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "sql/moment.h"

static unsigned traits_of(const char *text)
{
	return moment_traits(text, strlen(text));
}

static void iso_dates_and_times_sort_as_they_are(void **state)
{
	static const char *const texts[] = { "2026-01-15",
					     "2026-11-05 09:05",
					     "2026-01-15T10:15:00.25",
					     "2026-01-15T10:15:00Z",
					     "2026-01-15 10:15:00+02:00",
					     "09:05",
					     "10:15:30" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_not_equal(traits_of(texts[i]), 0);
		assert_false(moment_sorts_wrong(traits_of(texts[i])));
		assert_false(moment_is_unread(traits_of(texts[i])));
	}
}

static void other_dates_and_times_do_not_sort(void **state)
{
	static const char *const texts[] = { "31.01.2020",      "1.2.2020",
					     "01/31/2020",      "1/2/2020",
					     "1/2/20",          "31-01-2020",
					     "31.01.20",        "2026-1-5",
					     "2026/1/15",       "9:05",
					     "9:05:30",         "9:05 AM",
					     "12:30pm",         "31-Jan-2020",
					     "5 January 2020",  "Jan 5, 2020",
					     "Sept 5, 2020",    "31.01.2020 10:15",
					     "2026-01-05 9:05", "1/31/2020, 9:05 PM",
					     "Jan 2020",        "5 Jan. 2020",
					     "10 AM",           "9pm",
					     "9:05 p.m.",       "1/31/2020 9 PM" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_true(moment_sorts_wrong(traits_of(texts[i])));
		assert_true(moment_is_unread(traits_of(texts[i])));
	}
}

static void what_is_neither_is_neither(void **state)
{
	static const char *const texts[] = {
		"",           "abc",        "1.2.3",       "10.0.0.1",     "1.2.20",
		"32.01.2020", "31.31.2020", "2026-13-01",  "2026-01-32",   "9:65",
		"123:45",     "1/2",        "marble 2020", "31.01.2020 x", "0.1.2020",
		"9:05 XM",    "12-5-20",    "2026-01/05",  "13 AM",        "5 apm",
		"am",         "100 PM",     "12 A.M"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(traits_of(texts[i]), 0);
}

static void what_sorts_alone_may_not_sort_beside_others(void **state)
{
	static const char *const pairs[][2] = {
		{ "2026-01-15", "2026/01/16" },
		{ "2026-01-15T10:00", "2026-01-15 09:00" },
		{ "2026-01-15T10:00Z", "2026-01-15T10:00" },
		{ "2026-01-15T10:00+01:00", "2026-01-15T10:00+02:00" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_false(moment_sorts_wrong(traits_of(pairs[i][0])));
		assert_false(moment_sorts_wrong(traits_of(pairs[i][1])));
		assert_true(moment_sorts_wrong(traits_of(pairs[i][0]) | traits_of(pairs[i][1])));
	}
}

static void dates_that_are_written_otherwise_differ(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		bool differ;
	} cases[] = {
		{ "2026-01-15", "2027-11-05", false },
		{ "2026-01-15T10:00", "2026-01-15", false },
		{ "31.01.2020", "01.02.2021", false },
		{ "31.01.2020", "2020-01-31", true },
		{ "31.01.2020", "31/01/2020", true },
		{ "2026-1-5", "2026-01-05", true },
		{ "2026-01-05", "2026-1-5", true },
		{ "9:05", "09:05", true },
		{ "9:05", "10:15", false },
		{ "2026-01-15T10:00", "2026-01-15 10:00", true },
		{ "2026-01-15T10:00Z", "2026-01-15T10:00:30", true },
		{ "2026-01-15T10:00:00Z", "2026-01-15T10:00:00.5Z", true },
		{ "2026-01-15T10:00:00Z", "2026-01-15T10:00:00+00:00", true },
		{ "2026-01-15T10:00:00+01:00", "2026-01-15T10:00:00Z", true },
		{ "2026-01-15T10:00:00.000Z", "2026-01-15T10:00:00.250Z", false },
		{ "2026-01-15 10:00", "2026-01-15 10:00:00", false },
		{ "31-Jan-2020", "31-01-2020", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(moment_differs(traits_of(cases[i].a), traits_of(cases[i].b)),
				 cases[i].differ);
}

static void moments_that_say_more_extend_others(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		bool extends;
	} cases[] = {
		{ "2026-01-15 10:00:00", "2026-01-15 10:00", true },
		{ "2026-01-15 10:00", "2026-01-15 10:00:00", false },
		{ "2026-01-15 10:00:30", "2026-01-15 10:00", false },
		{ "2026-01-15 10:00:00.000", "2026-01-15 10:00:00", true },
		{ "2026-01-15 10:00:00.25", "2026-01-15 10:00:00", false },
		{ "2026-01-15 10:00:00.250000", "2026-01-15 10:00:00.250", true },
		{ "2026-01-15T10:00:00Z", "2026-01-15T10:00:00", true },
		{ "2026-01-15", "2026-01-15", false },
		{ "10:15:00", "10:15", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(moment_extends(traits_of(cases[i].a), traits_of(cases[i].b)),
				 cases[i].extends);
}

/* Forms without leading zeros write each moment in one way. */
static void forms_that_may_be_one_moment_are_ambiguous(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		bool ambiguous;
	} cases[] = {
		{ "2026-01-15T10:00:00", "2026-01-15 10:00:00", true },
		{ "2026-01-15 10:00:00", "2026-01-15 10:00", true },
		{ "2026-01-15 10:00:00.000", "2026-01-15 10:00:00", true },
		{ "2026-01-15T10:00:00Z", "2026-01-15T10:00:00", true },
		{ "2026-01-15T10:00:00Z", "2026-01-15T10:00:00+00:00", true },
		{ "2026-01-15", "2026/01/16", true },
		{ "2026-01-15T10:00:00.123456", "2026-01-15T10:00:00", false },
		{ "2026-01-15T10:00:30", "2026-01-15T10:00", false },
		{ "2026-01-15T10:00:00+01:00", "2026-07-15T10:00:00+02:00", false },
		{ "2026-01-15 10:00:00.000", "2026-01-15 10:00:00.250", false },
		{ "5/01/2026", "12/01/2026", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(moment_is_ambiguous(traits_of(cases[i].a) | traits_of(cases[i].b)),
				 cases[i].ambiguous);
}

static void dates_have_times_or_not(void **state)
{
	(void)state;
	assert_true(moment_has_both(traits_of("2026-01-15 10:00")));
	assert_false(moment_is_day(traits_of("2026-01-15 10:00")));
	assert_true(moment_is_day(traits_of("15.01.2026")));
	assert_false(moment_has_both(traits_of("15.01.2026")));
	assert_false(moment_has_both(traits_of("10:00")) || moment_is_day(traits_of("10:00")));
}

static void a_day_begins_at_midnight(void **state)
{
	static const char *const begins[] = { "2026-01-15 00:00", "2026-01-15T00:00:00Z",
					      "2026-01-15 00:00:00.000", "15.1.2026 0:00" };
	static const char *const others[] = { "2026-01-15",
					      "00:00",
					      "2026-01-15 10:00",
					      "2026-01-15 00:00:01",
					      "2026-01-15 00:00:00.5",
					      "2026-01-15 12:00 AM" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		assert_true(moment_is_midnight(begins[i], strlen(begins[i])));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(moment_is_midnight(others[i], strlen(others[i])));
}

static void eight_digits_may_be_a_date(void **state)
{
	static const char *const others[] = { "2026131",  "20261331", "20260132",
					      "00000101", "2026-131", "202601310" };

	(void)state;
	assert_true(moment_is_compact("20260131", 8));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(moment_is_compact(others[i], strlen(others[i])));
}

static void only_what_is_simple_has_an_expression(void **state)
{
	static const char *const simple[] = { "31.01.2020", "1/2/2020", "2026-1-5",
					      "2026/01/05", "9:05",     "31.01.2020 10:15" };
	static const char *const hard[] = { "31-Jan-2020", "31.01.20", "9:05:30 AM",
					    "1.2.2020 9:05" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(simple); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);

		assert_true(moment_put_expression(&out, "d", traits_of(simple[i])));
		assert_true(out.len > 0);
		buf_release(&out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(hard); i++) {
		struct buf out = BUF_INIT(BUF_UNBOUNDED);

		assert_false(moment_put_expression(&out, "d", traits_of(hard[i])));
		assert_int_equal(out.len, 0);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(iso_dates_and_times_sort_as_they_are),
		cmocka_unit_test(other_dates_and_times_do_not_sort),
		cmocka_unit_test(what_is_neither_is_neither),
		cmocka_unit_test(what_sorts_alone_may_not_sort_beside_others),
		cmocka_unit_test(dates_that_are_written_otherwise_differ),
		cmocka_unit_test(moments_that_say_more_extend_others),
		cmocka_unit_test(forms_that_may_be_one_moment_are_ambiguous),
		cmocka_unit_test(dates_have_times_or_not),
		cmocka_unit_test(a_day_begins_at_midnight),
		cmocka_unit_test(eight_digits_may_be_a_date),
		cmocka_unit_test(only_what_is_simple_has_an_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
