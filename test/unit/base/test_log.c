/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"

static int real_stderr;
static int pipe_ends[2];

/* stderr is a pipe that the test reads. */
static int set_up(void **state)
{
	struct err err;

	(void)state;
	real_stderr = fd_dup(STDERR_FILENO, &err);
	assert_true(real_stderr >= 0);
	assert_int_equal(pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(dup2(pipe_ends[1], STDERR_FILENO), STDERR_FILENO);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)dup2(real_stderr, STDERR_FILENO);
	fd_close(&real_stderr);
	fd_close(&pipe_ends[0]);
	fd_close(&pipe_ends[1]);
	log_set_level(LOG_WARN);
	return 0;
}

/* Returns the text written since the last call. */
static const char *written(void)
{
	static char text[8192];
	ssize_t n = read(pipe_ends[0], text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void a_line_has_time_level_area_and_message(void **state)
{
	const char *line;
	int year;
	int end = 0;

	(void)state;
	log_warn("table", "session '%s' ends", "a");
	line = written();
	assert_int_equal(sscanf(line, "%4d-%*2d-%*2dT%*2d:%*2d:%*2d.%*3dZ %n", &year, &end), 1);
	assert_string_equal(line + end, "warn  table: session 'a' ends\n");
}

static void lines_above_the_level_are_not_written(void **state)
{
	(void)state;
	log_info("a", "quiet");
	log_debug("a", "quiet");
	assert_string_equal(written(), "");
	log_set_level(LOG_DEBUG);
	log_debug("a", "loud");
	assert_non_null(strstr(written(), "debug a: loud\n"));
	log_set_level(LOG_ERROR);
	log_warn("a", "quiet");
	assert_string_equal(written(), "");
	log_error("a", "loud");
	assert_non_null(strstr(written(), "error a: loud\n"));
}

static void control_characters_never_reach_a_terminal(void **state)
{
	(void)state;
	log_warn("a", "one\ntwo\033[31m\x7f");
	assert_non_null(strstr(written(), "a: one?two?[31m?\n"));
}

static void replace(const void *context, char **text)
{
	free(*text);
	*text = xasprintf("%s\n", (const char *)context);
}

static void a_filter_sees_every_message_before_it_is_written(void **state)
{
	(void)state;
	log_set_filter(replace, "instead");
	log_warn("a", "%s", "hunter2");
	assert_non_null(strstr(written(), "warn  a: instead?\n"));
	log_set_filter(NULL, NULL);
	log_warn("a", "%s", "hunter2");
	assert_non_null(strstr(written(), "a: hunter2\n"));
}

static void a_long_line_is_cut_and_still_ends(void **state)
{
	char big[3000];
	const char *line;

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	log_warn("a", "%s", big);
	line = written();
	assert_true(strlen(line) <= 1024);
	assert_int_equal(line[strlen(line) - 1], '\n');
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void a_line_that_would_block_is_dropped_and_errno_kept(void **state)
{
	char junk[4096] = { 0 };

	(void)state;
	while (write(pipe_ends[1], junk, sizeof(junk)) > 0)
		;
	errno = ECHILD;
	log_error("a", "nobody reads");
	assert_int_equal(errno, ECHILD);
}

struct taken {
	enum log_level lowest;
	char last[64];
};

static bool takes(void *context, enum log_level level)
{
	return level <= ((const struct taken *)context)->lowest;
}

static void take(void *context, enum log_level level, const char *area, const char *message)
{
	struct taken *taken = context;

	(void)snprintf(taken->last, sizeof(taken->last), "%d %s %s", (int)level, area, message);
	log_error("a", "from the sink");
}

static void a_sink_takes_what_it_wants_at_any_level_of_stderr(void **state)
{
	struct taken taken = { .lowest = LOG_INFO, .last = "" };

	(void)state;
	log_set_sink(&(struct log_sink){ takes, take, &taken });
	log_debug("a", "quiet");
	assert_string_equal(taken.last, "");
	log_set_filter(replace, "instead");
	log_info("a", "%s", "hunter2");
	assert_string_equal(taken.last, "2 a instead?");
	log_set_filter(NULL, NULL);
	taken.lowest = LOG_ERROR;
	log_set_level(LOG_WARN);
	(void)written();
	log_warn("b", "for stderr");
	assert_string_equal(taken.last, "2 a instead?");
	assert_non_null(strstr(written(), "b: for stderr\n"));
	log_set_sink(NULL);
	log_error("c", "for stderr");
	assert_string_equal(taken.last, "2 a instead?");
}

static void levels_have_names(void **state)
{
	(void)state;
	assert_int_equal(log_level_parse("error"), LOG_ERROR);
	assert_int_equal(log_level_parse("warn"), LOG_WARN);
	assert_int_equal(log_level_parse("info"), LOG_INFO);
	assert_int_equal(log_level_parse("debug"), LOG_DEBUG);
	assert_int_equal(log_level_parse("WARN"), -1);
	assert_int_equal(log_level_parse(""), -1);
}

#define LOG_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(a_line_has_time_level_area_and_message),
		LOG_TEST(lines_above_the_level_are_not_written),
		LOG_TEST(control_characters_never_reach_a_terminal),
		LOG_TEST(a_filter_sees_every_message_before_it_is_written),
		LOG_TEST(a_long_line_is_cut_and_still_ends),
		LOG_TEST(a_sink_takes_what_it_wants_at_any_level_of_stderr),
		LOG_TEST(a_line_that_would_block_is_dropped_and_errno_kept),
		cmocka_unit_test(levels_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
