/* SPDX-License-Identifier: MIT */
/*
 * test_program.c - the helper program's side, with a pipe as its standard input and another as its
 * standard output.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "helper/program.h"
#include "json/make.h"

enum { MAX = 100, WRITTEN_MAX = 500 };

/* Reads a request from `text`, with the standard input of the test put back. */
static json_t *read_request(const char *text, size_t len, struct err *err)
{
	int kept = dup(STDIN_FILENO);
	int ends[2];
	json_t *request;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, len), len);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(close(ends[0]) + close(ends[1]), 0);
	request = program_read_request(MAX, err);
	assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(close(kept), 0);
	return request;
}

static void a_request_is_one_line_of_json(void **state)
{
	static const char text[] = "{\"path\":\"a\"}\n";
	struct err err = { 0 };
	json_t *request = read_request(text, strlen(text), &err);

	(void)state;
	assert_non_null(request);
	assert_string_equal(json_string_value(json_object_get(request, "path")), "a");
	json_decref(request);
}

static void assert_refused(const char *text, size_t len, enum err_code code, const char *why)
{
	struct err err = { 0 };

	assert_null(read_request(text, len, &err));
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.msg, why));
}

static void a_request_that_is_none_is_refused(void **state)
{
	static const char torn[] = "{\"path\":";
	static const char other[] = "no JSON\n";

	(void)state;
	assert_refused("", 0, ERR_INVALID, "ends before its line does");
	assert_refused(torn, strlen(torn), ERR_INVALID, "ends before its line does");
	assert_refused(other, strlen(other), ERR_INVALID, "the request");
}

static void a_program_writes_a_line_each(void **state)
{
	const struct err err = { .code = ERR_LIMIT, .msg = "too much" };
	char written[WRITTEN_MAX + 1] = "";
	int kept = dup(STDOUT_FILENO);
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	program_progress(json_make_str("half"));
	program_alive();
	program_alive(); /* within the same second: no line */
	program_result(json_make_str("all"));
	program_error(&err);
	assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
	assert_true(read(ends[0], written, WRITTEN_MAX) > 0);
	assert_int_equal(close(ends[0]) + close(ends[1]) + close(kept), 0);
	assert_non_null(strstr(written, "{\"progress\":\"half\"}\n{\"progress\":{}}\n"));
	assert_non_null(strstr(written, "{\"result\":\"all\"}\n{\"error\":{\"code\":\""));
	assert_non_null(strstr(written, "\"message\":\"too much\"}}\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_one_line_of_json),
		cmocka_unit_test(a_request_that_is_none_is_refused),
		cmocka_unit_test(a_program_writes_a_line_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
