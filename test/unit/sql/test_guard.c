/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sql/guard.h"

enum { STATEMENTS_MIN = 300 };

static const char *const dialects[] = { "tsql", "postgresql", "sqlite", "mysql", "generic" };

/* \n, \r, \\ and \xHH in place. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s != '\0'; s++) {
		if (*s != '\\') {
			*out++ = *s;
			continue;
		}
		s++;
		if (*s == 'x') {
			char digits[] = { s[1], s[2], '\0' };

			*out++ = (char)strtoul(digits, NULL, 16);
			s += 2;
			continue;
		}
		*out++ = (char)(*s == 'n' ? '\n' : *s == 'r' ? '\r' : *s);
	}
	*out = '\0';
}

static bool is_wanted(const char *names, size_t dialect)
{
	return strstr(names, "all") != NULL || strstr(names, dialects[dialect]) != NULL;
}

static void check_line(const char *line, size_t number, size_t dialect)
{
	cleanup_free char *text = xstrdup(line + 2);
	struct guard_statement statement;
	struct err err = { .msg = "" };
	int result;

	unescape(text);
	result = guard_check((enum sql_dialect)dialect, text, strlen(text), &statement, &err);
	if ((result == 0) != (line[0] == '+'))
		fail_msg("line %zu, %s: %s: %s", number, dialects[dialect], line,
			 result == 0 ? "allowed" : err.msg);
}

static void each_statement_is_allowed_or_denied_as_the_file_says(void **state)
{
	struct err err;
	cleanup_free char *whole =
		fd_read_file(AT_FDCWD, TEST_DATA "/sql/statements", 1 << 20, NULL, &err);
	char *data = whole;
	const char *names = "";
	char *line;
	size_t number = 0;
	size_t count = 0;

	(void)state;
	assert_non_null(data);
	while ((line = strsep(&data, "\n")) != NULL) {
		number++;
		if (line[0] == '#' && line[1] == ' ')
			names = line;
		if (line[0] != '+' && line[0] != '-')
			continue;
		count++;
		for (size_t i = 0; i < ARRAY_SIZE(dialects); i++)
			if (is_wanted(names, i))
				check_line(line, number, i);
	}
	assert_true(count >= STATEMENTS_MIN);
}

static void assert_reason(enum sql_dialect dialect, const char *text, enum err_code code,
			  const char *reason)
{
	struct guard_statement statement;
	struct err err;

	assert_int_equal(guard_check(dialect, text, strlen(text), &statement, &err), -1);
	assert_string_equal(err.msg, reason);
	assert_int_equal(err.code, code);
}

static void a_refusal_says_where_and_why(void **state)
{
	(void)state;
	assert_reason(SQL_TSQL, "SELECT 1\n COMMIT", ERR_DENIED,
		      "line 2, column 2: COMMIT is about transactions: exec_sql only reads");
	assert_reason(SQL_SQLITE, "SELECT 'ü', nope;\n\nDROP TABLE t", ERR_DENIED,
		      "line 1, column 17: ; begins a second statement: one a call");
	assert_reason(SQL_POSTGRESQL, "SELECT pg_sleep(1)", ERR_DENIED,
		      "line 1, column 8: pg_sleep waits: exec_sql only reads");
	assert_reason(SQL_POSTGRESQL, "SELECT (1).pg_sleep", ERR_DENIED,
		      "line 1, column 12: pg_sleep waits: exec_sql only reads; behind a dot it may "
		      "be called, a column of this name is written without the dot");
	assert_reason(SQL_TSQL, "SELECT ü FROM t\u00a0COMMIT", ERR_INVALID,
		      "line 1, column 16: a character that is no letter, no digit and no plain "
		      "blank");
	assert_reason(SQL_SQLITE, "SELECT 'a", ERR_INVALID,
		      "line 1, column 8: this string does not end");
	assert_reason(SQL_SQLITE, " \n", ERR_INVALID, "the query is empty");
}

static void the_statement_is_told_without_what_stands_around_it(void **state)
{
	static const char text[] = " ; /* a */ SELECT 1 ; -- b";
	struct guard_statement statement;
	struct err err;

	(void)state;
	assert_int_equal(guard_check(SQL_SQLITE, text, strlen(text), &statement, &err), 0);
	assert_int_equal(statement.len, 8);
	assert_memory_equal(text + statement.at, "SELECT 1", 8);
}

static void nul_and_too_much_are_refused(void **state)
{
	struct guard_statement statement;
	struct err err;
	cleanup_free char *large = xcalloc(1, GUARD_QUERY_MAX + 2);

	(void)state;
	memset(large, ' ', GUARD_QUERY_MAX + 1);
	assert_int_equal(guard_check(SQL_SQLITE, "SELECT 1\0;", 10, &statement, &err), -1);
	assert_int_equal(guard_check(SQL_SQLITE, large, GUARD_QUERY_MAX + 1, &statement, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static void names_behind_dots_are_looked_for_within_a_bound(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct guard_statement statement;
	struct err err;

	(void)state;
	buf_puts(&text, "SELECT ");
	for (size_t i = 0; i < 500; i++)
		buf_puts(&text, "x.http_a, ");
	buf_puts(&text, "1 FROM x");
	assert_int_equal(guard_check(SQL_POSTGRESQL, buf_str(&text), text.len, &statement, &err),
			 0);
	for (size_t i = 0; i < 20000; i++)
		buf_puts(&text, ",x.http_a");
	assert_int_equal(guard_check(SQL_POSTGRESQL, buf_str(&text), text.len, &statement, &err),
			 -1);
	assert_int_equal(err.code, ERR_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_statement_is_allowed_or_denied_as_the_file_says),
		cmocka_unit_test(a_refusal_says_where_and_why),
		cmocka_unit_test(the_statement_is_told_without_what_stands_around_it),
		cmocka_unit_test(nul_and_too_much_are_refused),
		cmocka_unit_test(names_behind_dots_are_looked_for_within_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
