/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sql/infer.h"

static void each_value_has_its_class(void **state)
{
	static const struct {
		const char *text;
		enum infer_class class;
	} cases[] = {
		{ "", INFER_EMPTY },
		{ " \t", INFER_EMPTY },
		{ "NA", INFER_MISSING },
		{ "N/A", INFER_MISSING },
		{ "NaN", INFER_MISSING },
		{ "nan", INFER_MISSING },
		{ "NULL", INFER_MISSING },
		{ "null", INFER_MISSING },
		{ "None", INFER_MISSING },
		{ " #N/A ", INFER_MISSING },
		{ "NaT", INFER_MISSING },
		{ "\\N", INFER_MISSING },
		{ "na", INFER_TEXT },
		{ "0", INFER_INTEGER },
		{ "-12", INFER_INTEGER },
		{ "+1", INFER_INTEGER },
		{ " 3", INFER_INTEGER },
		{ "3 ", INFER_INTEGER },
		{ "123456789012345", INFER_INTEGER },
		{ "9007199254740992", INFER_INTEGER },
		{ "9007199254740993", INFER_LONG },
		{ "9223372036854775807", INFER_LONG },
		{ "9223372036854775808", INFER_HUGE },
		{ "-9223372036854775808", INFER_INTEGER },
		{ "-9223372036854775809", INFER_WIDE },
		{ "10000000000000000000000", INFER_HUGE },
		{ "123456789012345678901", INFER_WIDE },
		{ "007", INFER_PADDED },
		{ "-007", INFER_PADDED },
		{ "00.5", INFER_PADDED },
		{ "1.5", INFER_REAL },
		{ "-0.25", INFER_REAL },
		{ ".5", INFER_REAL },
		{ "5.", INFER_REAL },
		{ "1E+300", INFER_REAL },
		{ "1e-05", INFER_REAL },
		{ "2.7104237895314576e-05", INFER_REAL },
		{ "0.9999501760490148", INFER_REAL },
		{ "0e999", INFER_POWER },
		{ "1E5", INFER_POWER },
		{ "1e999", INFER_TEXT },
		{ "1.0e-999", INFER_TEXT },
		{ "2,5", INFER_COMMA },
		{ "-,5", INFER_COMMA },
		{ "1,", INFER_TEXT },
		{ "1,234.5", INFER_MARKED },
		{ ".", INFER_TEXT },
		{ "-", INFER_TEXT },
		{ "+-1", INFER_TEXT },
		{ "1e", INFER_TEXT },
		{ "1e+", INFER_TEXT },
		{ "1 2", INFER_TEXT },
		{ "0x10", INFER_TEXT },
		{ "inf", INFER_INFINITE },
		{ "-Infinity", INFER_INFINITE },
		{ "2026-11-23", INFER_DATE },
		{ "2026-11-23 10:00:00", INFER_DATE },
		{ "2026-11-23T10:00:00.5Z", INFER_DATE },
		{ "2026-11-23x", INFER_TEXT },
		{ "2026-11", INFER_TEXT },
		{ "$5", INFER_MARKED },
		{ "-$1,234.50", INFER_MARKED },
		{ "12%", INFER_MARKED },
		{ "1,000", INFER_COMMA },
		{ "1,000,000", INFER_MARKED },
		{ "1.234,5", INFER_MARKED_COMMA },
		{ "1 000", INFER_MARKED },
		{ "1'000.25", INFER_MARKED },
		{ "(1,234.5)", INFER_MARKED },
		{ "1,23,456", INFER_MARKED },
		{ "12,34,56,789.25", INFER_MARKED },
		{ "1,23,45", INFER_TEXT },
		{ "1,23.5", INFER_TEXT },
		{ "\xe2\x88\x92"
		  "5",
		  INFER_MARKED },
		{ "\xe2\x88\x92"
		  "1.5",
		  INFER_MARKED },
		{ "1\xe2\x80\xaf"
		  "234",
		  INFER_MARKED },
		{ "5 \xe2\x82\xac", INFER_MARKED },
		{ "\xc2\xa3"
		  "7",
		  INFER_MARKED },
		{ "10.05.2024", INFER_MOMENT },
		{ "1/2/2024", INFER_MOMENT },
		{ "9:05", INFER_MOMENT },
		{ " 2026-1-5 ", INFER_MOMENT },
		{ "555-1234", INFER_TEXT },
		{ "10.1.2.3", INFER_TEXT },
		{ "5 kg", INFER_MARKED },
		{ "1.250", INFER_GROUPED },
		{ "-12.000", INFER_GROUPED },
		{ "0.125", INFER_REAL },
		{ "1234.500", INFER_REAL },
		{ "+4179123", INFER_INTEGER },
		{ "+41791234567", INFER_PLUS },
		{ "41791234567", INFER_INTEGER },
		{ "12,5%", INFER_MARKED_COMMA },
		{ "12,500%", INFER_MARKED },
		{ "12,50\xe2\x82\xac", INFER_MARKED_COMMA },
		{ "1.234,56 \xe2\x82\xac", INFER_MARKED_COMMA },
		{ "EUR 12,50", INFER_MARKED_COMMA },
		{ "$1.234,56", INFER_MARKED_COMMA },
		{ "US$ 10", INFER_MARKED },
		{ "-R$10", INFER_MARKED },
		{ "10 EUR", INFER_MARKED },
		{ "CHF 99.90", INFER_MARKED },
		{ "Rs. 5", INFER_MARKED },
		{ "\xe2\x82\xbd"
		  "10",
		  INFER_MARKED },
		{ "12 K\xc4\x8d", INFER_MARKED },
		{ "CHF\xc2\xa0"
		  "5",
		  INFER_MARKED },
		{ "10kg", INFER_MARKED },
		{ "21 \xc2\xb0"
		  "C",
		  INFER_MARKED },
		{ "1.2M", INFER_MARKED },
		{ "3k", INFER_MARKED },
		{ "900K", INFER_MARKED },
		{ "-$3.4B", INFER_MARKED },
		{ "1,2 Mio.", INFER_MARKED_COMMA },
		{ "5 bn", INFER_MARKED },
		{ "12Gi", INFER_MARKED },
		{ "5G", INFER_TEXT },
		{ "3B", INFER_TEXT },
		{ "12C", INFER_TEXT },
		{ "12A", INFER_TEXT },
		{ "12 B", INFER_TEXT },
		{ "300-B", INFER_TEXT },
		{ "1-K", INFER_TEXT },
		{ "1.2 B", INFER_MARKED },
		{ "300-", INFER_MARKED },
		{ "12 Main", INFER_TEXT },
		{ "Room 12", INFER_TEXT },
		{ "EUR", INFER_TEXT },
		{ "EUR USD 5", INFER_TEXT },
		{ "A1", INFER_TEXT },
		{ "3rd", INFER_TEXT },
		{ "12 34", INFER_TEXT },
		{ "$", INFER_TEXT },
		{ "A1", INFER_TEXT },
		{ "True", INFER_BOOLEAN },
		{ "false", INFER_BOOLEAN },
		{ "yes", INFER_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (infer_class(cases[i].text, strlen(cases[i].text)) != cases[i].class)
			fail_msg("'%s'", cases[i].text);
}

/* Of texts that a space separates. */
static void count(const char *texts, uint64_t counts[INFER_CLASSES])
{
	while (*texts != '\0') {
		size_t len = strcspn(texts, " ");

		counts[infer_class(texts, len)]++;
		texts += len + (texts[len] == ' ');
	}
}

static struct infer_verdict decide(const char *texts, bool commas)
{
	uint64_t counts[INFER_CLASSES] = { 0 };

	count(texts, counts);
	return infer_decide(counts, commas);
}

static void a_column_has_the_type_of_all_its_values(void **state)
{
	static const struct {
		const char *texts;
		bool commas;
		enum infer_type type;
		enum infer_reason reason;
		bool missing;
	} cases[] = {
		{ "1 2 NA", false, INFER_TYPE_INTEGER, INFER_NO_REASON, true },
		{ "1 2.5 NaN", false, INFER_TYPE_REAL, INFER_NO_REASON, true },
		{ "9007199254740993 1", false, INFER_TYPE_INTEGER, INFER_NO_REASON, true },
		{ "9007199254740993 1.5", false, INFER_TYPE_TEXT, INFER_INEXACT, false },
		{ "9007199254740992 1.5", false, INFER_TYPE_REAL, INFER_NO_REASON, true },
		{ "10000000000000000000000 1", false, INFER_TYPE_REAL, INFER_NO_REASON, true },
		{ "123456789012345678901 1", false, INFER_TYPE_TEXT, INFER_TOO_WIDE, false },
		{ "123456789012345678901 NA", false, INFER_TYPE_TEXT, INFER_TOO_WIDE, false },
		{ "123456789012345678901 x 1 2 3", false, INFER_TYPE_TEXT, INFER_FEW_TEXTS, false },
		{ "1 2 3 x", false, INFER_TYPE_TEXT, INFER_FEW_TEXTS, false },
		{ "1 x", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "x NA", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "NA", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "007 008", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "2026-11-23 NA", false, INFER_TYPE_TEXT, INFER_NO_REASON, true },
		{ "True NA", false, INFER_TYPE_BOOLEAN, INFER_NO_REASON, true },
		{ "true FALSE", false, INFER_TYPE_BOOLEAN, INFER_NO_REASON, true },
		{ "true false x", false, INFER_TYPE_TEXT, INFER_FEW_WORDS, false },
		{ "true x", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "true 1", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "2,5 3", true, INFER_TYPE_REAL, INFER_NO_REASON, true },
		{ "2,5 3", false, INFER_TYPE_TEXT, INFER_MARKS, false },
		{ "2,5 $3", false, INFER_TYPE_TEXT, INFER_MARKS, false },
		{ "2,5 $3", true, INFER_TYPE_TEXT, INFER_MARKS, false },
		{ "1,000 5% x", false, INFER_TYPE_TEXT, INFER_MARKS, false },
		{ "1,000 x", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "2,5 3.5", true, INFER_TYPE_TEXT, INFER_TWO_POINTS, false },
		{ "1.250 980", true, INFER_TYPE_REAL, INFER_NO_REASON, true },
		{ "12,5% 3%", false, INFER_TYPE_TEXT, INFER_MARKS, false },
		{ "+41791234567 +41791234568", false, INFER_TYPE_TEXT, INFER_NO_REASON, true },
		{ "+41791234567 NA", false, INFER_TYPE_TEXT, INFER_NO_REASON, true },
		{ "+41791234567 x", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "+41791234567 7", false, INFER_TYPE_INTEGER, INFER_NO_REASON, true },
		{ "2026-11-23 2026-11-24 x", false, INFER_TYPE_TEXT, INFER_FEW_DATES, false },
		{ "2026-11-23 x", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "inf 1", false, INFER_TYPE_REAL, INFER_NO_REASON, true },
		{ "inf", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
		{ "", false, INFER_TYPE_TEXT, INFER_NO_REASON, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct infer_verdict verdict = decide(cases[i].texts, cases[i].commas);

		if (verdict.type != cases[i].type || verdict.reason != cases[i].reason ||
		    verdict.missing != cases[i].missing)
			fail_msg("'%s'", cases[i].texts);
	}
}

static struct infer_verdict doubt(const char *texts)
{
	uint64_t counts[INFER_CLASSES] = { 0 };
	struct infer_verdict verdict;

	count(texts, counts);
	verdict = infer_decide(counts, true);
	infer_doubt(counts, &verdict);
	return verdict;
}

static void points_before_three_digits_may_be_of_thousands(void **state)
{
	(void)state;
	assert_int_equal(doubt("1.250 980").reason, INFER_THOUSANDS);
	assert_int_equal(doubt("1.250 NA").type, INFER_TYPE_TEXT);
	assert_int_equal(doubt("1.250 1.5").type, INFER_TYPE_REAL);
	assert_int_equal(doubt("0.250").type, INFER_TYPE_REAL);
	assert_int_equal(doubt("980").type, INFER_TYPE_INTEGER);
	assert_int_equal(doubt("1.250 2,5").reason, INFER_TWO_POINTS);
}

static void integers_keep_all_their_digits(void **state)
{
	(void)state;
	assert_true(infer_integer(" +12 ", 5) == 12);
	assert_true(infer_integer("9223372036854775807", 19) == INT64_MAX);
	assert_true(infer_integer("-9223372036854775808", 20) == INT64_MIN);
}

static void booleans_are_read_in_any_case(void **state)
{
	(void)state;
	assert_true(infer_boolean(" True ", 6) == 1 && infer_boolean("TRUE", 4) == 1);
	assert_true(infer_boolean("false", 5) == 0 && infer_boolean("\tFalse", 6) == 0);
}

/* By the library's own reading, which is right. */
static void reals_are_the_nearest_doubles(void **state)
{
	static const char *const texts[] = { "0.1",
					     "2.7104237895314576e-05",
					     "1e22",
					     "1e23",
					     "9007199254740993",
					     ".5",
					     "5.",
					     "-0.0",
					     "123456789012345.678",
					     "0.000000000000000000000001",
					     "1.7976931348623157e308",
					     "5e-324",
					     "+3.25",
					     "8.41",
					     "123456.789e3",
					     "-inf",
					     "0.30000000000000004",
					     "179769313486231570000" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		double expected = strtod(texts[i], NULL);
		double got = infer_real(texts[i], strlen(texts[i]), '.');

		if (got != expected || signbit(got) != signbit(expected))
			fail_msg("'%s'", texts[i]);
	}
	assert_true(infer_real("2,5", 3, ',') == 2.5);
	assert_true(infer_real(" -1,25e2", 8, ',') == -125);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_has_its_class),
		cmocka_unit_test(a_column_has_the_type_of_all_its_values),
		cmocka_unit_test(points_before_three_digits_may_be_of_thousands),
		cmocka_unit_test(integers_keep_all_their_digits),
		cmocka_unit_test(booleans_are_read_in_any_case),
		cmocka_unit_test(reals_are_the_nearest_doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
