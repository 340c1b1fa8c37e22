/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/dotenv.h"

static void put_escaped(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s >= ' ' && *s < 127 && *s != '\\')
			buf_put(out, s, 1);
		else
			buf_putf(out, "\\x%02x", (unsigned char)*s);
	}
}

/* One line an entry: NAME=value, NAME without a value, or ? for a line that cannot be read. */
static char *print_entries(const char *data, size_t len)
{
	struct dotenv d;
	struct dotenv_entry entry;
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	dotenv_init(&d, data, len);
	while (dotenv_next(&d, &entry)) {
		put_escaped(&out, entry.name ? entry.name : "?");
		if (entry.value) {
			buf_puts(&out, "=");
			put_escaped(&out, entry.value);
		}
		buf_puts(&out, "\n");
		dotenv_entry_release(&entry);
	}
	return buf_steal(&out);
}

static char *read_case(const char *name, const char *side, size_t *ret_len)
{
	cleanup_free char *path = xasprintf("%s/dotenv/%s/%s", TEST_DATA, name, side);
	struct err err = { 0 };
	char *data = fd_read_file(AT_FDCWD, path, 1 << 20, ret_len, &err);

	if (!data)
		fail_msg("%s", err.msg);
	return data;
}

static void check_case(const char *name)
{
	size_t in_len;
	size_t out_len;
	cleanup_free char *in = read_case(name, "in", &in_len);
	cleanup_free char *expected = read_case(name, "out", &out_len);
	cleanup_free char *got = print_entries(in, in_len);

	if (strcmp(got, expected) != 0)
		print_error("case %s\n", name);
	assert_string_equal(got, expected);
}

static void every_golden_file_reads_as_python_dotenv_reads_it(void **state)
{
	DIR *dir = opendir(TEST_DATA "/dotenv");
	struct dirent *entry;
	size_t cases = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		check_case(entry->d_name);
		cases++;
	}
	closedir(dir);
	assert_true(cases >= 20);
}

static void an_entry_knows_the_line_it_starts_in(void **state)
{
	static const char text[] = "# c\r\n\r\nA=\"x\r\ny\"\nB=1\rC=2";
	static const size_t lines[] = { 3, 5, 6 };
	struct dotenv d;

	(void)state;
	dotenv_init(&d, text, sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_dotenv_entry struct dotenv_entry entry = { 0 };

		assert_true(dotenv_next(&d, &entry));
		assert_int_equal(entry.line, lines[i]);
	}
}

static void a_nul_byte_ends_nothing_but_its_line(void **state)
{
	static const char text[] = "A=1\0x\n\0\nB=2\n";
	cleanup_free char *got = print_entries(text, sizeof(text) - 1);

	(void)state;
	assert_non_null(strstr(got, "B=2\n"));
}

static const char *find_abc(struct dotenv_scope *scope, const char *name)
{
	(void)scope;
	return str_eq(name, "ABC") ? "${ABC}x" : NULL;
}

static void references_are_replaced_once_with_their_defaults(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "a${ABC}b", "a${ABC}xb" },
		{ "${NONE}", "" },
		{ "${NONE:-de fault}", "de fault" },
		{ "${ABC:-d}", "${ABC}x" },
		{ "${NONE:-}", "" },
		{ "$ABC ${ABC", "$ABC ${ABC" },
		{ "${A:B}", "${A:B}" },
		{ "${NONE:-${ABC}", "${ABC" },
		{ "$${ABC}", "$${ABC}x" },
		{ "${}", "" },
	};
	struct dotenv_scope scope = { .find = find_abc };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *got = dotenv_expand(cases[i][0], &scope, &err);

		assert_non_null(got);
		assert_string_equal(got, cases[i][1]);
	}
}

static const char *find_long(struct dotenv_scope *scope, const char *name)
{
	static char text[40000];

	(void)scope;
	(void)name;
	memset(text, 'x', sizeof(text) - 1);
	return text;
}

static void a_value_that_grows_too_large_is_an_error(void **state)
{
	struct dotenv_scope scope = { .find = find_long };
	struct err err = { 0 };

	(void)state;
	assert_null(dotenv_expand("${A}${A}", &scope, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_golden_file_reads_as_python_dotenv_reads_it),
		cmocka_unit_test(an_entry_knows_the_line_it_starts_in),
		cmocka_unit_test(a_nul_byte_ends_nothing_but_its_line),
		cmocka_unit_test(references_are_replaced_once_with_their_defaults),
		cmocka_unit_test(a_value_that_grows_too_large_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
