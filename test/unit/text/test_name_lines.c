/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/name_lines.h"

static void a_name_is_plain_and_what_is_behind_it_follows(void **state)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	static const char line[] = "-[secret\\sK] num";
	bool gone = false;

	(void)state;
	assert_string_equal(name_lines_name(&name, line, line + strlen(line), &gone), "num");
	assert_string_equal(buf_str(&name), "[secret K]");
	assert_true(gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_plain_and_what_is_behind_it_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
