/* SPDX-License-Identifier: MIT */
/* test_forgive.c - what models write is taken as they mean it, and nothing else is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "tools/forgive.h"

static const char properties[] =
	"{\"session_id\":{\"type\":\"string\"},\"language\":{\"type\":\"string\"},"
	"\"code\":{\"type\":\"string\"},\"input\":{\"type\":\"string\"},"
	"\"key\":{\"type\":\"string\"},\"url\":{\"type\":\"string\"},"
	"\"content\":{\"type\":\"string\"},\"timeout\":{\"type\":\"number\"},"
	"\"raw\":{\"type\":\"boolean\"},\"config\":{\"type\":\"object\"},"
	"\"dependencies\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"params\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"string\"}]}}}";

static void expect(const char *given, const char *meant)
{
	cleanup_json json_t *schema = json_parse_const(properties);
	cleanup_json json_t *arguments = json_parse_const(given);
	cleanup_json json_t *wanted = json_parse_const(meant);
	cleanup_free char *text = NULL;

	forgive_arguments(arguments, "exec_code", schema);
	text = json_write_text(arguments);
	if (!json_equal(arguments, wanted))
		fail_msg("%s became %s", given, text);
}

static void names_are_heard(void **state)
{
	(void)state;
	expect("{\"sessionId\":\"s\",\"Session-ID\":\"t\"}",
	       "{\"session_id\":\"s\",\"Session-ID\":\"t\"}");
	expect("{\"session\":\"s\",\"lang\":\"r\",\"script\":\"1\"}",
	       "{\"session_id\":\"s\",\"language\":\"r\",\"code\":\"1\"}");
	expect("{\"packages\":[\"a\"]}", "{\"dependencies\":[\"a\"]}");
	expect("{\"code\":null,\"source\":\"1\"}", "{\"code\":\"1\"}");
	/* Of another tool, or of none; and none is taken from one that is given. */
	expect("{\"sql\":\"1\",\"nope\":2}", "{\"sql\":\"1\",\"nope\":2}");
	expect("{\"code\":\"1\",\"source\":\"2\"}", "{\"code\":\"1\",\"source\":\"2\"}");
}

static void types_are_heard(void **state)
{
	(void)state;
	expect("{\"timeout\":\"60\"}", "{\"timeout\":60.0}");
	expect("{\"timeout\":\" 1.5 s \"}", "{\"timeout\":1.5}");
	expect("{\"timeout\":5}", "{\"timeout\":5}");
	expect("{\"raw\":\"True\"}", "{\"raw\":true}");
	expect("{\"raw\":\"false\"}", "{\"raw\":false}");
	expect("{\"input\":5,\"code\":1.5}", "{\"input\":\"5\",\"code\":\"1.5\"}");
	expect("{\"config\":\"{\\\"a\\\":1}\"}", "{\"config\":{\"a\":1}}");
	expect("{\"params\":\"[1,2]\"}", "{\"params\":[1,2]}");
	expect("{\"params\":3}", "{\"params\":[3]}");
	expect("{\"params\":\"a b\"}", "{\"params\":[\"a b\"]}");
}

static void a_text_is_a_list_of_packages(void **state)
{
	(void)state;
	expect("{\"dependencies\":\"numpy\"}", "{\"dependencies\":[\"numpy\"]}");
	expect("{\"dependencies\":\"numpy, pandas>=2 scipy\"}",
	       "{\"dependencies\":[\"numpy\",\"pandas>=2\",\"scipy\"]}");
	expect("{\"dependencies\":\"pandas >= 2, < 3\"}",
	       "{\"dependencies\":[\"pandas >= 2, < 3\"]}");
	expect("{\"dependencies\":\"[\\\"a\\\", \\\"b\\\"]\"}", "{\"dependencies\":[\"a\",\"b\"]}");
	expect("{\"dependencies\":\"a[b] @ https://x/y z\"}",
	       "{\"dependencies\":[\"a[b] @ https://x/y z\"]}");
	expect("{\"dependencies\":\"@scope/name\"}", "{\"dependencies\":[\"@scope/name\"]}");
	expect("{\"dependencies\":\"pip\"}", "{\"dependencies\":[\"pip\"]}");
}

/* On PyPI and npm there are packages of the names of these words. */
static void the_words_of_a_command_are_no_packages(void **state)
{
	(void)state;
	expect("{\"dependencies\":\"pip install numpy\"}",
	       "{\"dependencies\":[\"pip install numpy\"]}");
	expect("{\"dependencies\":\"uv pip install numpy\"}",
	       "{\"dependencies\":[\"uv pip install numpy\"]}");
	expect("{\"dependencies\":\" npm\\ti left-pad\"}",
	       "{\"dependencies\":[\" npm\\ti left-pad\"]}");
}

static void what_means_nothing_else_stays(void **state)
{
	static const char *const rows[] = {
		"{\"timeout\":\"soon\"}", "{\"timeout\":\"nan\"}",
		"{\"timeout\":\"0x10\"}", "{\"timeout\":\"1 2\"}",
		"{\"timeout\":\"5m\"}",   "{\"timeout\":true}",
		"{\"raw\":\"maybe\"}",    "{\"raw\":1}",
		"{\"config\":\"[1]\"}",   "{\"config\":\"{\"}",
		"{\"code\":[\"a\"]}",     "{\"dependencies\":{}}",
		"{\"dependencies\":5}",   "{\"params\":{\"a\":1}}",
		"{\"unknown\":\"60\"}",   "{\"timeout\":null}",
		"{\"code\":true}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i], rows[i]);
}

static void an_empty_text_is_an_argument_left_out(void **state)
{
	(void)state;
	expect("{\"language\":\"\",\"key\":\"\",\"url\":\"\",\"dependencies\":\"\",\"timeout\":\"\"}",
	       "{}");
	expect("{\"session_id\":\"\",\"code\":\"\",\"input\":\"\",\"content\":\"\"}",
	       "{\"session_id\":\"\",\"code\":\"\",\"input\":\"\",\"content\":\"\"}");
	expect("{\"input\":\"\",\"key\":\"up\"}", "{\"key\":\"up\"}");
	expect("{\"content\":\"\",\"url\":\"http://x\"}", "{\"url\":\"http://x\"}");
}

static void a_fence_around_the_whole_is_removed(void **state)
{
	static const struct {
		const char *code;
		const char *inner; /* NULL: there is no such fence */
		const char *word;
	} rows[] = {
		{ "```python\nx = 1\n```", "x = 1\n", "python" },
		{ "\n ```\nx\n\ny\n```\n\n", "x\n\ny\n", "" },
		{ "```{r, echo=FALSE}\nx\n```", "x\n", "{r," },
		{ "````md\n```\na\n```\n````", "```\na\n```\n", "md" },
		{ "```js\r\nx\r\n```\r\n", "x\r\n", "js" },
		{ "```\n```", "", "" },
		{ "x = 1", NULL, NULL },
		{ "", NULL, NULL },
		{ "```", NULL, NULL },
		{ "```python", NULL, NULL },
		{ "```python\nx", NULL, NULL },
		{ "``\nx\n``", NULL, NULL },
		{ "print(\"\"\"\n```\n\"\"\")", NULL, NULL },
		{ "```a\nx\n```\nand\n```b\ny\n```", NULL, NULL },
		{ "```a\nx\n``` y", NULL, NULL },
		{ "```x``` + 1\n2\n```", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *code = rows[i].code;
		size_t len = strlen(code);
		const char *word = "";
		size_t word_len = 0;
		bool fenced = forgive_fence(&code, &len, &word, &word_len);

		if (fenced != (rows[i].inner != NULL))
			fail_msg("%s", rows[i].code);
		if (!fenced) {
			assert_ptr_equal(code, rows[i].code);
			continue;
		}
		assert_int_equal(len, strlen(rows[i].inner));
		assert_memory_equal(code, rows[i].inner, len);
		assert_int_equal(word_len, strlen(rows[i].word));
		assert_memory_equal(word, rows[i].word, word_len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_heard),
		cmocka_unit_test(types_are_heard),
		cmocka_unit_test(a_text_is_a_list_of_packages),
		cmocka_unit_test(the_words_of_a_command_are_no_packages),
		cmocka_unit_test(what_means_nothing_else_stays),
		cmocka_unit_test(an_empty_text_is_an_argument_left_out),
		cmocka_unit_test(a_fence_around_the_whole_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
