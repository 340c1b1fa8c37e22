/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "sql/token.h"

#define MARK "\xef\xbb\xbf"
#define NO_BREAK "\xc2\xa0"
#define WIDE "\xe3\x80\x80"

/* W6 */
static void blanks_beyond_ascii_become_plain_ones_outside_of_quotes_and_comments(void **state)
{
	static const struct {
		enum sql_dialect dialect;
		const char *text;
		const char *plain;
	} cases[] = {
		{ SQL_SQLITE, "", "" },
		{ SQL_SQLITE, MARK "SELECT 1", " SELECT 1" },
		{ SQL_SQLITE, "SELECT" NO_BREAK "a" NO_BREAK NO_BREAK "FROM t" NO_BREAK,
		  "SELECT a  FROM t " },
		{ SQL_SQLITE, WIDE "SELECT" WIDE "*" WIDE "FROM t", " SELECT * FROM t" },
		{ SQL_SQLITE, "SELECT '" NO_BREAK "', \"" WIDE "\" -- " NO_BREAK "\n/*" WIDE "*/",
		  "SELECT '" NO_BREAK "', \"" WIDE "\" -- " NO_BREAK "\n/*" WIDE "*/" },
		{ SQL_SQLITE, "SELECT :a" NO_BREAK "+1", "SELECT :a +1" },
		{ SQL_SQLITE, "SELECT \xc3\xa9" NO_BREAK "FROM t", "SELECT \xc3\xa9 FROM t" },
		{ SQL_SQLITE, "SELECT '" NO_BREAK, "SELECT '" NO_BREAK },
		{ SQL_POSTGRESQL, "SELECT" NO_BREAK "E'\\'" NO_BREAK "'" NO_BREAK ", 1",
		  "SELECT E'\\'" NO_BREAK "' , 1" },
		{ SQL_POSTGRESQL, "SELECT $$" NO_BREAK "$$", "SELECT $$" NO_BREAK "$$" },
		{ SQL_MYSQL, "SELECT" NO_BREAK "a", "SELECT a" },
		{ SQL_TSQL, "SELECT" WIDE "[a" WIDE "b]", "SELECT [a" WIDE "b]" },
		{ SQL_GENERIC, "SELECT" NO_BREAK "a", "SELECT a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_buf struct buf plain = BUF_INIT(BUF_UNBOUNDED);

		token_plain_blanks(cases[i].dialect, cases[i].text, strlen(cases[i].text), &plain);
		assert_string_equal(buf_str(&plain), cases[i].plain);
	}
}

static void what_is_no_text_stays_what_it_is(void **state)
{
	static const char text[] = "SELECT\0" NO_BREAK "1";
	cleanup_buf struct buf plain = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	token_plain_blanks(SQL_SQLITE, text, sizeof(text) - 1, &plain);
	assert_int_equal(plain.len, sizeof(text) - 1);
	assert_memory_equal(buf_str(&plain), text, plain.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			blanks_beyond_ascii_become_plain_ones_outside_of_quotes_and_comments),
		cmocka_unit_test(what_is_no_text_stays_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
