/* SPDX-License-Identifier: MIT */
/* What is left of a dump by which Python dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/util.h"
#include "runtime/python/dump.h"

#define HEADER "Current thread 0x00007f204cb102c0 (most recent call first):\n"
#define OURS "  File \"<ptycell driver>\", line 906 in run_codes\n"
#define STUB "  File \"<string>\", line 25 in <module>\n"
#define CELL "  File \"<cell 9>\", line 1 in <module>\n"
#define MODULES "Extension modules: numpy.core._multiarray_umath, PIL._imaging (total: 2)\n"

static void expect(const char *given, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&text, given);
	dump_tidy(&text);
	assert_string_equal(buf_str(&text), want);
}

static void frames_of_the_driver_and_the_modules_go(void **state)
{
	(void)state;
	expect("x\nFatal Python error: Aborted\n\n" HEADER CELL OURS OURS STUB "\n" MODULES,
	       "x\nFatal Python error: Aborted\n\n" HEADER CELL "\n");
	expect(HEADER OURS CELL OURS STUB "end", HEADER CELL "end");
}

static void every_thread_is_tidied(void **state)
{
	(void)state;
	expect("Thread 0x1 (most recent call first):\n" CELL "\n" HEADER CELL OURS STUB,
	       "Thread 0x1 (most recent call first):\n" CELL "\n" HEADER CELL);
}

static void code_of_a_cell_that_has_no_file_stays(void **state)
{
	(void)state;
	expect(HEADER STUB CELL OURS STUB, HEADER STUB CELL);
}

static void what_only_looks_like_it_stays(void **state)
{
	(void)state;
	expect(MODULES OURS STUB, MODULES OURS STUB);
	expect("Current thread 0x1\n" OURS, "Current thread 0x1\n" OURS);
	expect("", "");
}

static void expect_place(const char *given, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf place = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&text, given);
	dump_place(&text, &place);
	assert_string_equal(buf_str(&place), want);
}

static void it_names_the_function_and_the_line_of_the_cell(void **state)
{
	(void)state;
	expect_place("x\r\n" HEADER "  File \"/lib/subprocess.py\", line 20 in _wait\r\n"
		     "  File \"/lib/subprocess.py\", line 5 in run\r\n"
		     "  File \"<cell 9>\", line 2 in train\r\n" CELL OURS STUB,
		     "_wait, line 20 of subprocess.py, called in train, line 2 of <cell 9>");
	expect_place(HEADER OURS CELL OURS STUB "x\n", "line 1 of <cell 9>");
	expect_place(HEADER "  File \"a.py\", line 3 in f\n", "f, line 3 of a.py");
}

static void the_last_dump_counts_and_what_is_none_names_nothing(void **state)
{
	(void)state;
	expect_place(HEADER "  File \"a.py\", line 3 in f\n" HEADER CELL, "line 1 of <cell 9>");
	expect_place(HEADER OURS STUB, "");
	expect_place(HEADER "  File \"a.py\n" CELL, "line 1 of <cell 9>");
	expect_place(CELL, "");
	expect_place("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_driver_and_the_modules_go),
		cmocka_unit_test(every_thread_is_tidied),
		cmocka_unit_test(code_of_a_cell_that_has_no_file_stays),
		cmocka_unit_test(what_only_looks_like_it_stays),
		cmocka_unit_test(it_names_the_function_and_the_line_of_the_cell),
		cmocka_unit_test(the_last_dump_counts_and_what_is_none_names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
