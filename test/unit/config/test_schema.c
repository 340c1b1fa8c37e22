/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "base/mem.h"
#include "config/schema.h"

static const struct setting *number_row(size_t index)
{
	for (size_t i = 0; schema_at(i); i++) {
		if (schema_is_number(schema_at(i)) && index-- == 0)
			return schema_at(i);
	}
	return NULL;
}

static bool accepts(const struct setting *row, uint64_t number)
{
	cleanup_free char *text = xasprintf("%" PRIu64, number);
	uint64_t got = 0;

	if (!schema_parse(row, text, &got))
		return false;
	assert_int_equal(got, number);
	return true;
}

static void every_number_takes_its_minimum_and_maximum_and_nothing_beyond(void **state)
{
	(void)state;
	for (size_t i = 0; number_row(i); i++) {
		const struct setting *row = number_row(i);

		print_message("%s\n", row->name);
		assert_true(accepts(row, row->minimum));
		assert_true(accepts(row, row->maximum));
		assert_false(accepts(row, row->minimum - 1));
		assert_false(accepts(row, row->maximum + 1));
		assert_true(accepts(row, schema_default_number(row)));
	}
}

static void zero_is_legal_where_the_minimum_says_so_and_seldom_does(void **state)
{
	(void)state;
	for (size_t i = 0; number_row(i); i++)
		assert_int_equal(accepts(number_row(i), 0),
				 str_eq(number_row(i)->name, "PTYCELL_CALL_BUDGET") ||
					 str_eq(number_row(i)->name, "PTYCELL_STOP_GRACE") ||
					 str_eq(number_row(i)->name, "PTYCELL_LINGER") ||
					 str_eq(number_row(i)->name, "PTYCELL_SPARES"));
}

static void a_number_may_be_off_where_that_is_a_word_of_its_own(void **state)
{
	const struct setting *row = schema_find("PTYCELL_RESUME");
	cleanup_buf struct buf legal = BUF_INIT(BUF_UNBOUNDED);
	uint64_t number = 1;

	(void)state;
	assert_true(schema_parse(row, " OFF ", &number));
	assert_int_equal(number, 0);
	assert_true(schema_parse(row, "12h", &number));
	assert_int_equal(number, 12 * 3600);
	assert_false(schema_parse(row, "0", &number));
	assert_false(schema_parse(row, "of", &number));
	schema_legal(row, &legal);
	assert_string_equal(buf_str(&legal),
			    "takes seconds, 1 to 315360000 s, off; also written 90s, 5m, 2h or 1d");
	assert_false(schema_parse(schema_find("IDLE_TIMEOUT"), "off", &number));
}

struct parse_case {
	const char *name;
	const char *text;
	uint64_t number; /* 0: refused */
};

static void numbers_are_read_strictly(void **state)
{
	static const struct parse_case cases[] = {
		{ "EXEC_TIMEOUT", "90", 90 },
		{ "EXEC_TIMEOUT", " 90\t\r\n", 90 },
		{ "EXEC_TIMEOUT", "90s", 90 },
		{ "EXEC_TIMEOUT", "5m", 300 },
		{ "EXEC_TIMEOUT", "2H", 7200 },
		{ "EXEC_TIMEOUT", "1d", 86400 },
		{ "EXEC_TIMEOUT", "0090", 90 },
		{ "EXEC_TIMEOUT", "", 0 },
		{ "EXEC_TIMEOUT", " ", 0 },
		{ "EXEC_TIMEOUT", "s", 0 },
		{ "EXEC_TIMEOUT", "6_0", 0 },
		{ "EXEC_TIMEOUT", "+5", 0 },
		{ "EXEC_TIMEOUT", "-5", 0 },
		{ "EXEC_TIMEOUT", "5.0", 0 },
		{ "EXEC_TIMEOUT", "1e3", 0 },
		{ "EXEC_TIMEOUT", "0x10", 0 },
		{ "EXEC_TIMEOUT", "5 m", 0 },
		{ "EXEC_TIMEOUT", "5mm", 0 },
		{ "EXEC_TIMEOUT", "5M5", 0 },
		{ "EXEC_TIMEOUT", "5G", 0 },
		{ "EXEC_TIMEOUT", "60 # seconds", 0 },
		{ "EXEC_TIMEOUT", "\xd9\xa6\xd9\xa0", 0 },         /* Arabic-Indic 60 */
		{ "EXEC_TIMEOUT", "\xef\xbc\x96\xef\xbc\x90", 0 }, /* full-width 60 */
		{ "EXEC_TIMEOUT", "18446744073709551676", 0 },     /* 2^64 + 60 */
		{ "EXEC_TIMEOUT", "213503982334602d", 0 },         /* past 2^64 s */
		{ "EXEC_TIMEOUT", "99999999999999999999999999", 0 },
		{ "PTYCELL_JOURNAL_MAX", "64M", 64 << 20 },
		{ "PTYCELL_JOURNAL_MAX", "1g", 1 << 30 },
		{ "PTYCELL_JOURNAL_MAX", "512k", 512 << 10 },
		{ "PTYCELL_JOURNAL_MAX", "1048576", 1 << 20 },
		{ "PTYCELL_JOURNAL_MAX", "64MB", 0 },
		{ "PTYCELL_JOURNAL_MAX", "16777216T", 0 },
		{ "PTYCELL_MAX_SESSIONS", "12", 12 },
		{ "PTYCELL_MAX_SESSIONS", "1K", 0 },
		{ "PTYCELL_MAX_SESSIONS", "12s", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t got = 0;
		bool legal = schema_parse(schema_find(cases[i].name), cases[i].text, &got);

		if (legal != (cases[i].number != 0) || got != cases[i].number)
			print_error("%s '%s'\n", cases[i].name, cases[i].text);
		assert_int_equal(legal, cases[i].number != 0);
		assert_int_equal(got, cases[i].number);
	}
}

static void words_and_switches_know_no_case(void **state)
{
	uint64_t number = 9;

	(void)state;
	assert_true(schema_parse(schema_find("PTYCELL_RESULTS"), "JSON", &number));
	assert_int_equal(number, 1);
	assert_true(schema_parse(schema_find("PTYCELL_DRAIN"), "Yes", &number));
	assert_int_equal(number, 1);
	assert_true(schema_parse(schema_find("PTYCELL_DRAIN"), "false", &number));
	assert_int_equal(number, 0);
	assert_false(schema_parse(schema_find("PTYCELL_RESULTS"), "jso", &number));
	assert_false(schema_parse(schema_find("PTYCELL_RESULTS"), "jsonl", &number));
	assert_false(schema_parse(schema_find("PTYCELL_DRAIN"), "2", &number));
}

static void every_flag_is_its_variable_in_small_letters(void **state)
{
	(void)state;
	for (size_t i = 0; schema_at(i); i++) {
		const struct setting *row = schema_at(i);
		const char *name = row->name;

		if (name[0] == '\0') /* the flag alone */
			continue;
		if (strncmp(name, "PTYCELL_", 8) == 0)
			name += 8;
		assert_int_equal(strlen(name), strlen(row->flag));
		assert_true(strlen(row->flag) <= SCHEMA_FLAG_MAX);
		for (size_t j = 0; name[j]; j++) {
			int lower = name[j] == '_' ? '_' : name[j] | 0x20;

			assert_int_equal(row->flag[j], lower == '_' ? '-' : lower);
			if (row->key)
				assert_int_equal(row->key[j], lower);
		}
	}
}

static void a_slip_finds_the_flag_that_was_meant(void **state)
{
	(void)state;
	assert_string_equal(schema_nearest("exec-timout")->name, "PTYCELL_EXEC_TIMEOUT");
	assert_string_equal(schema_nearest("max-session")->name, "PTYCELL_MAX_SESSIONS");
	assert_string_equal(schema_nearest("keep")->name, "PTYCELL_KEEP");
	assert_null(schema_nearest("perl"));
	assert_null(schema_nearest("x"));
	assert_null(schema_nearest(""));
	assert_null(schema_nearest("a-name-that-is-much-longer-than-any-flag-that-there-is"));
}

static void numbers_print_with_the_largest_unit_that_divides_them(void **state)
{
	static const struct parse_case cases[] = {
		{ "PTYCELL_JOURNAL_MAX", "64M", 64 << 20 },
		{ "PTYCELL_JOURNAL_MAX", "1G", 1 << 30 },
		{ "PTYCELL_JOURNAL_MAX", "1025K", 1025 << 10 },
		{ "PTYCELL_JOURNAL_MAX", "1000", 1000 },
		{ "EXEC_TIMEOUT", "300", 300 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_buf struct buf out;

		buf_init(&out, BUF_UNBOUNDED);
		schema_print(schema_find(cases[i].name), cases[i].number, &out);
		assert_string_equal(buf_str(&out), cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_takes_its_minimum_and_maximum_and_nothing_beyond),
		cmocka_unit_test(zero_is_legal_where_the_minimum_says_so_and_seldom_does),
		cmocka_unit_test(a_number_may_be_off_where_that_is_a_word_of_its_own),
		cmocka_unit_test(numbers_are_read_strictly),
		cmocka_unit_test(words_and_switches_know_no_case),
		cmocka_unit_test(every_flag_is_its_variable_in_small_letters),
		cmocka_unit_test(a_slip_finds_the_flag_that_was_meant),
		cmocka_unit_test(numbers_print_with_the_largest_unit_that_divides_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
