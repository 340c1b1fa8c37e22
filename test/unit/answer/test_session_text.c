/* SPDX-License-Identifier: MIT */
/* test_session_text.c - what session_info tells in a few lines, and what include adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "answer/session_text.h"
#include "base/buf.h"
#include "json/make.h"
#include "json/parse.h"

#define LANGUAGES                                                                                  \
	"[{\"name\":\"python\",\"state\":\"ready\",\"version\":\"3.11.2\"},"                       \
	"{\"name\":\"javascript\",\"state\":\"not started\"},"                                     \
	"{\"name\":\"bash\",\"state\":\"busy\",\"version\":\"5.2\"}]"
#define LIMITS                                                                                     \
	"{\"exec_timeout\":300,\"memory_max\":4294967296,\"disk_max\":2147483648,"                 \
	"\"file_max\":1073741824,\"output_chars\":8000,\"net_max\":7}"
#define SESSION                                                                                          \
	"\"session_id\":\"sales\",\"state\":\"idle\",\"workdir\":\"/mnt/data\",\"keep_dir\":\"~/kept\"," \
	"\"languages\":" LANGUAGES                                                                       \
	",\"databases\":[\"shop\",\"files\"],\"effective_config\":" LIMITS                               \
	",\"storage\":null,\"journal\":{\"cells\":7}"
#define OPEN                                                                                       \
	",\"confinement\":{\"tier\":\"namespaces\",\"shares\":[{\"path\":\"/home/a\","             \
	"\"writable\":false},{\"path\":\"/srv/b\",\"writable\":true}],"                            \
	"\"network\":{\"mode\":\"hosts\",\"allowed\":\"example.com\"}}"
#define CLOSED                                                                                     \
	",\"confinement\":{\"tier\":\"namespaces\",\"shares\":[],\"network\":{\"mode\":\"none\"}}"

static const char *text_of(const char *answer, const char *include)
{
	static struct buf text;
	cleanup_json json_t *object = json_parse_const(answer);
	cleanup_json json_t *words = json_parse_const(include);

	buf_release(&text);
	buf_init(&text, BUF_UNBOUNDED);
	session_text_put(&text, object, words);
	return buf_str(&text);
}

static void a_session_is_a_few_lines(void **state)
{
	const char *text = text_of("{" SESSION CLOSED "}", "[]");

	(void)state;
	assert_string_equal(
		text,
		"session: sales, idle\n"
		"folder: /mnt/data, with input/ for uploads and output/ for the user, who finds it in "
		"~/kept\n"
		"languages: python 3.11.2, javascript, bash 5.2 (busy)\n"
		"databases: shop, files\n"
		"network: none\n"
		"limits: cell 300 s, memory 4.0 GB, folder 2.0 GB, file 1.0 GB, answer 8000 characters\n"
		"include tells more: variables, packages, limits, languages, confinement, storage, "
		"journal, all\n");
	assert_in_range(strlen(text), 300, 450);
}

static void what_code_can_reach_is_told(void **state)
{
	const char *text =
		text_of("{" SESSION OPEN ",\"incoming\":[{\"path\":\"input/a\"}]}", "[]");

	(void)state;
	assert_non_null(strstr(text, "network: hosts (example.com)\n"));
	assert_non_null(strstr(text, "share: /home/a\nshare: /srv/b (code may write)\n"));
	assert_non_null(strstr(text, "incoming: [{\"path\":\"input/a\"}]\n"));
}

static void what_is_included_is_told_whole(void **state)
{
	const char *text = text_of("{" SESSION CLOSED ",\"variables\":[{\"name\":\"x\"}]}",
				   "[\"variables\",\"Limits\"]");

	(void)state;
	assert_non_null(strstr(text, "variables: [{\"name\":\"x\"}]\n"));
	assert_non_null(strstr(text, "effective_config: " LIMITS "\n"));
	assert_null(strstr(text, "include tells more"));
	assert_null(strstr(text, "journal: "));
	text = text_of("{" SESSION CLOSED "}", "[\"all\"]");
	assert_non_null(strstr(text, "journal: {\"cells\":7}\n"));
	assert_non_null(strstr(text, "languages: " LANGUAGES "\n"));
	assert_null(strstr(text, "storage: "));
}

static void a_session_that_is_not_there_says_so(void **state)
{
	const char *text =
		text_of("{\"session_id\":\"s\",\"state\":\"none\",\"notice\":\"There is none.\","
			"\"languages\":[],\"databases\":[],\"effective_config\":{},"
			"\"confinement\":{\"tier\":\"refused\",\"explanation\":\"No.\"}}",
			"[]");

	(void)state;
	assert_true(strncmp(text, "There is none.\nsession: s, none\nlanguages:\n", 42) == 0);
	assert_non_null(strstr(text, "no code runs: No.\n"));
}

static void only_its_words_are_known(void **state)
{
	(void)state;
	assert_true(session_text_knows("variables"));
	assert_true(session_text_knows("All"));
	assert_false(session_text_knows("everything"));
	assert_false(session_text_knows(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_a_few_lines),
		cmocka_unit_test(what_code_can_reach_is_told),
		cmocka_unit_test(what_is_included_is_told_whole),
		cmocka_unit_test(a_session_that_is_not_there_says_so),
		cmocka_unit_test(only_its_words_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
