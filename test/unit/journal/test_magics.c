/* SPDX-License-Identifier: MIT */
/* test_magics.c - IPython's lines become the calls that its own transformer writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "journal/magics.h"

#define IPYTHON "get_ipython()."

static void check(const char *code, const char *expected)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	magics_rewrite(&out, code, strlen(code));
	assert_string_equal(buf_str(&out), expected);
}

static void lines_become_calls(void **state)
{
	(void)state;
	check("%pip install x \nx = 1\n", IPYTHON "run_line_magic('pip', 'install x')\nx = 1\n");
	check("if a:\n    !ls -l 'b'\n", "if a:\n    " IPYTHON "system(\"ls -l 'b'\")\n");
	check("!echo 'a' \"b\"", IPYTHON "system('echo \\'a\\' \"b\"')");
	check("!!ls", IPYTHON "getoutput('ls')");
	check("a, b = !ls {x}\n", "a, b = " IPYTHON "getoutput('ls {x}')\n");
	check("t = %timeit -o f()", "t = " IPYTHON "run_line_magic('timeit', '-o f()')");
	check("!ls \\\n  -l\nx", IPYTHON "system('ls    -l')\nx");
	check("%time\n", IPYTHON "run_line_magic('time', '')\n");
}

static void questions_become_calls(void **state)
{
	(void)state;
	check("len?\n", IPYTHON "run_line_magic('pinfo', 'len')\n");
	check("x = 1\n  a.b??", "x = 1\n  " IPYTHON "run_line_magic('pinfo2', 'a.b')");
	check("?len", IPYTHON "run_line_magic('pinfo', 'len')");
}

static void a_cell_becomes_one_call(void **state)
{
	(void)state;
	check("\n%%bash -e\necho 'a\tb'\r\n\x01\n",
	      IPYTHON "run_cell_magic('bash', '-e', \"echo 'a\\tb'\\r\\n\\x01\\n\")");
	check("%%writefile a.txt\nb", IPYTHON "run_cell_magic('writefile', 'a.txt', 'b\\n')");
	check("%%capture", IPYTHON "run_cell_magic('capture', '', '')");
}

static void nothing_else_is_changed(void **state)
{
	static const char *const codes[] = {
		"s = \"\"\"\n%pip install x\n!ls\na?\n\"\"\"\n",
		"x = (a\n  % b)\n",
		"x = a \\\n  % b\n",
		"# !ls?\nx = 5 %2\n",
		"s = 'a\\'\\\n!ls'\n",
		"a != b\nx == -1\n",
		"f = [1,\n!x]",
		"s = '''%d'''  % x\ny = \"why?\"\n",
		"'",
		"(",
		"\\",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		check(codes[i], codes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_calls),
		cmocka_unit_test(questions_become_calls),
		cmocka_unit_test(a_cell_becomes_one_call),
		cmocka_unit_test(nothing_else_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
