/* SPDX-License-Identifier: MIT */
/* test_fold.c - tracebacks of Python without the frames of libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "runtime/python/fold.h"

#define CELL "  File \"<cell 9>\", line 2, in <module>\n    pd.read_csv('bad.csv')\n"
#define PANDAS(line, name)                                                                         \
	"  File \"/usr/lib/python3/dist-packages/pandas/io/readers.py\", line " line ", in " name  \
	"\n    return func(*args)\n           ^^^^^^^^^^^\n"
#define CYTHON "  File \"pandas/_libs/parsers.pyx\", line 852, in pandas._libs.TextReader.read\n"
#define STDLIB "  File \"/usr/lib/python3.11/json/decoder.py\", line 337, in decode\n    obj = 1\n"
#define FROZEN "  File \"<frozen importlib._bootstrap>\", line 241, in _call\n"
#define OWN "  File \"/mnt/data/mine.py\", line 3, in f\n    g()\n"
#define SHARED "  File \"/home/user/lib/tools.py\", line 4, in g\n    h()\n"

static void expect(const char *traceback, const char *folded)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	fold_traceback(traceback, &out);
	assert_string_equal(buf_str(&out), folded);
}

static void rows_of_libraries_become_a_line(void **state)
{
	(void)state;
	expect("Traceback (most recent call last):\n" CELL PANDAS("1", "a") PANDAS("2", "b") CYTHON
	       "ParserError: saw 4\n",
	       "Traceback (most recent call last):\n" CELL
	       "  [3 frames of libraries, the last pandas/_libs/parsers.pyx:852 in "
	       "pandas._libs.TextReader.read]\nParserError: saw 4\n");
	expect(CELL STDLIB FROZEN OWN PANDAS("7", "x") STDLIB "E: e", CELL
	       "  [2 frames of libraries, the last <frozen importlib._bootstrap>:241 in _call]\n" OWN
	       "  [2 frames of libraries, the last json/decoder.py:337 in decode]\nE: e");
}

static void one_frame_and_those_of_the_user_stay(void **state)
{
	(void)state;
	expect(CELL STDLIB "E: e\n", CELL STDLIB "E: e\n");
	expect(CELL OWN SHARED "E: e\n", CELL OWN SHARED "E: e\n");
	expect(CELL CELL CELL "E: e\n", CELL CELL CELL "E: e\n");
}

static void each_part_of_a_chain_is_folded(void **state)
{
	(void)state;
	expect("Traceback:\n" PANDAS("1", "a") CYTHON
	       "KeyError: 1\n\nThe above exception was\n\nTraceback:\n" CELL PANDAS("3", "c")
		       PANDAS("4", "d") "KeyError: 2\n",
	       "Traceback:\n  [2 frames of libraries, the last pandas/_libs/parsers.pyx:852 in "
	       "pandas._libs.TextReader.read]\nKeyError: 1\n\nThe above exception was\n\nTraceback:\n" CELL
	       "  [2 frames of libraries, the last pandas/io/readers.py:4 in d]\nKeyError: 2\n");
}

static void what_is_no_frame_stays(void **state)
{
	static const char *const rows[] = {
		"",
		"\n",
		"  File \"/usr/lib/python3.11/a.py\", line 3\n    x(\n     ^\nSyntaxError: a\n",
		"  File \"",
		"  File \"/usr/lib/python3.11/a.py\"",
		"  | " STDLIB "  | " STDLIB "E\n",
		"E: e\n  File \"/usr/lib/python3\", line 1, in f\n  File \"/usr/lib/python3\", line 1, in f",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(rows[i], rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_libraries_become_a_line),
		cmocka_unit_test(one_frame_and_those_of_the_user_stay),
		cmocka_unit_test(each_part_of_a_chain_is_folded),
		cmocka_unit_test(what_is_no_frame_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
