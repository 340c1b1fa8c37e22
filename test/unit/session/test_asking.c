/* SPDX-License-Identifier: MIT */
/* Requests of programs over pipes: what arrives, what is answered, and what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <poll.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "patience.h"
#include "scratch.h"
#include "session/asking.h"
#include "workspace/home.h"
#include "workspace/workspace.h"

#define ID "0123456789abcdef"
#define FOLDER ".cache/ask"

static struct scratch scratch;
static struct loop *loop;
static struct home *home;
static struct workspace *workspace;
static struct asking *asking;
static struct ask *last;
static char *request;
static int asked_count;
static int gone_count;

static void on_asked(struct ask *ask, const char *text, size_t len, void *data)
{
	(void)data;
	last = ask;
	asked_count++;
	free(request);
	request = xmemdup(text, len);
}

static void on_gone(struct ask *ask, void *data)
{
	(void)data;
	assert_ptr_equal(ask, last);
	gone_count++;
}

static const struct asking_handlers handlers = { .asked = on_asked, .gone = on_gone };

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	scratch_init(&scratch);
	loop = loop_new(clock_ms, &err);
	home = home_open(scratch.path, &err);
	workspace = home != NULL ? workspace_new(home, &err) : NULL;
	asking = workspace != NULL ? asking_new(loop, workspace, &handlers, NULL, &err) : NULL;
	if (asking == NULL)
		fail_msg("%s", err.msg);
	asked_count = gone_count = 0;
	assert_int_equal(mkdirat(workspace_data_fd(workspace), ".cache", 0700), 0);
	assert_int_equal(mkdirat(workspace_data_fd(workspace), FOLDER, 0700), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	asking_free(asking);
	asking_free(NULL);
	free(request);
	request = NULL;
	workspace_free(workspace);
	home_close(home);
	loop_free(loop);
	scratch_release(&scratch);
	return 0;
}

static void until(const int *count, int want)
{
	patience_turn_until(loop, *count >= want);
	assert_int_equal(*count, want);
}

static void ring(const char *line)
{
	int bell = openat(workspace_packages_fd(workspace), BELL_FOLDER "/pipe",
			  O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	assert_true(bell >= 0);
	assert_int_equal(write(bell, line, strlen(line)), strlen(line));
	fd_close(&bell);
}

/* A program's end of its two pipes. */
struct program {
	int asks;
	int told;
};

static struct program call(const char *id)
{
	cleanup_free char *asks = xasprintf(FOLDER "/%s.request", id);
	cleanup_free char *told = xasprintf(FOLDER "/%s.answer", id);
	cleanup_free char *line = xasprintf("%s\n", id);
	int data = workspace_data_fd(workspace);
	struct program program;

	assert_int_equal(mkfifoat(data, asks, 0600), 0);
	assert_int_equal(mkfifoat(data, told, 0600), 0);
	program.asks = openat(data, asks, O_RDWR | O_CLOEXEC);
	program.told = openat(data, told, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(program.asks >= 0 && program.told >= 0);
	ring(line);
	return program;
}

static void hang_up(struct program *program)
{
	fd_close(&program->asks);
	fd_close(&program->told);
}

/* Reads what there is, until there is something or the other end is closed. */
static size_t hear(const struct program *program, char *text, size_t size)
{
	struct pollfd ready = { .fd = program->told, .events = POLLIN };
	ssize_t n;

	patience_turn_until(loop, poll(&ready, 1, 0) > 0);
	n = read(program->told, text, size - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	return (size_t)n;
}

static void a_request_is_taken_and_answered(void **state)
{
	struct program program = call(ID);
	char text[100];

	(void)state;
	assert_int_equal(hear(&program, text, sizeof(text)), 1);
	assert_string_equal(text, "\n");
	assert_int_equal(faccessat(workspace_data_fd(workspace), FOLDER "/" ID ".answer", F_OK, 0),
			 -1);
	assert_int_equal(write(program.asks, "{\"x\"", 4), 4);
	assert_int_equal(write(program.asks, ": 1}\nmore", 9), 9);
	until(&asked_count, 1);
	assert_string_equal(request, "{\"x\": 1}");
	asking_answer(last, "fine");
	(void)hear(&program, text, sizeof(text));
	assert_string_equal(text, "fine\n");
	assert_int_equal(gone_count, 0);
	hang_up(&program);
}

static void the_end_of_a_program_is_reported_once_it_has_asked(void **state)
{
	struct program silent = call("aaaaaaaaaaaaaaaa");
	struct program program = call(ID);
	char text[100];

	(void)state;
	(void)hear(&program, text, sizeof(text));
	hang_up(&silent);
	assert_int_equal(write(program.asks, "x\n", 2), 2);
	until(&asked_count, 1);
	assert_int_equal(gone_count, 0);
	hang_up(&program);
	until(&gone_count, 1);
}

static void the_end_of_the_session_is_one_of_its_requests(void **state)
{
	struct program program = call(ID);
	char text[100];

	(void)state;
	(void)hear(&program, text, sizeof(text));
	assert_int_equal(write(program.asks, "x\n", 2), 2);
	until(&asked_count, 1);
	asking_free(asking);
	asking = NULL;
	assert_int_equal(gone_count, 1);
	assert_int_equal(read(program.told, text, sizeof(text)), 0);
	hang_up(&program);
}

static void a_request_without_an_end_is_dropped(void **state)
{
	struct program program = call(ID);
	char text[100];
	static char much[1 << 16];
	size_t sent = 0;

	(void)state;
	(void)hear(&program, text, sizeof(text));
	memset(much, 'x', sizeof(much));
	assert_int_equal(fcntl(program.asks, F_SETFL, O_NONBLOCK), 0);
	while (sent <= ASKING_REQUEST_MAX) {
		ssize_t n = write(program.asks, much, sizeof(much));

		sent += n > 0 ? (size_t)n : 0;
		loop_turn(loop, 0);
	}
	assert_true(hear(&program, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "too many packages"));
	assert_int_equal(asked_count, 0);
	hang_up(&program);
}

static void only_so_many_are_taken_at_once(void **state)
{
	struct program programs[ASKING_MAX + 1];
	char text[200];

	(void)state;
	for (int i = 0; i <= ASKING_MAX; i++) {
		char id[ASKING_ID_CHARS + 1];

		(void)snprintf(id, sizeof(id), "%016x", (unsigned)i);
		programs[i] = call(id);
		(void)hear(&programs[i], text, sizeof(text));
		assert_int_equal(strcmp(text, "\n") == 0, i < ASKING_MAX);
	}
	for (int i = 0; i <= ASKING_MAX; i++)
		hang_up(&programs[i]);
}

static void what_is_no_pipe_of_a_program_is_left_alone(void **state)
{
	int data = workspace_data_fd(workspace);
	char text[100];
	struct program program;

	(void)state;
	scratch_write(data, FOLDER "/" ID ".request", "a file");
	assert_int_equal(symlinkat("/etc/passwd", data, FOLDER "/" ID ".answer"), 0);
	ring(ID "\n");
	ring("../../../etc/passwd\n\n" ID "0\n" ID "\n");
	program = call("bbbbbbbbbbbbbbbb");
	(void)hear(&program, text, sizeof(text));
	assert_string_equal(text, "\n");
	assert_int_equal(faccessat(data, FOLDER "/" ID ".request", F_OK, 0), 0);
	hang_up(&program);
}

static void a_session_without_the_folder_has_no_bell(void **state)
{
	struct err err = { 0 };

	(void)state;
	asking_free(asking);
	asking = NULL;
	assert_int_equal(unlinkat(workspace_packages_fd(workspace), BELL_FOLDER "/pipe", 0), 0);
	assert_int_equal(unlinkat(workspace_packages_fd(workspace), BELL_FOLDER, AT_REMOVEDIR), 0);
	assert_null(asking_new(loop, workspace, &handlers, NULL, &err));
	assert_non_null(strstr(err.msg, BELL_FOLDER));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_taken_and_answered),
		TEST(the_end_of_a_program_is_reported_once_it_has_asked),
		TEST(the_end_of_the_session_is_one_of_its_requests),
		TEST(a_request_without_an_end_is_dropped),
		TEST(only_so_many_are_taken_at_once),
		TEST(what_is_no_pipe_of_a_program_is_left_alone),
		TEST(a_session_without_the_folder_has_no_bell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
