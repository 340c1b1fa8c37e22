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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_driver_and_the_modules_go),
		cmocka_unit_test(every_thread_is_tidied),
		cmocka_unit_test(code_of_a_cell_that_has_no_file_stays),
		cmocka_unit_test(what_only_looks_like_it_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
