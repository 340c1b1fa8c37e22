/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "mcp/stdio.h"

enum { NOT_DONE = -1, TURNS_MAX = 100000 };

/* A server between two pipes; `in` is ours to write, `out` ours to read. */
struct pipes {
	struct fixture f;
	struct mcp_stdio *stdio;
	int in;
	int out;
	int server_in;
	int server_out;
	int end;
	struct buf received;
};

static void on_done(void *context, enum mcp_stdio_end end)
{
	struct pipes *p = context;

	assert_int_equal(p->end, NOT_DONE);
	p->end = (int)end;
}

static void make_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_read = ends[0];
	*ret_write = ends[1];
}

static void start(struct pipes *p, bool drain)
{
	struct mcp_stdio_options options = {
		.in_fd = p->server_in,
		.out_fd = p->server_out,
		.drain = drain,
		.done = on_done,
		.context = p,
	};
	struct err err;

	p->end = NOT_DONE;
	buf_init(&p->received, BUF_UNBOUNDED);
	fixture_start(&p->f, &fixture_features);
	p->stdio = mcp_stdio_new(p->f.loop, p->f.server, &options, &err);
	assert_non_null(p->stdio);
	p->f.limits.live_calls_max = 1000;
}

static void start_on_pipes(struct pipes *p, bool drain)
{
	make_pipe(&p->server_in, &p->in);
	make_pipe(&p->out, &p->server_out);
	assert_int_equal(fcntl(p->out, F_SETFL, O_NONBLOCK), 0);
	start(p, drain);
}

static int setup(void **state)
{
	struct pipes *p = xcalloc(1, sizeof(*p));

	(void)sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	start_on_pipes(p, false);
	*state = p;
	return 0;
}

static int setup_drain(void **state)
{
	struct pipes *p = xcalloc(1, sizeof(*p));

	start_on_pipes(p, true);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pipes *p = *state;

	mcp_server_cancel_all(p->f.server);
	mcp_stdio_free(p->stdio);
	fixture_end(&p->f);
	fd_close(&p->in);
	fd_close(&p->out);
	fd_close(&p->server_in);
	fd_close(&p->server_out);
	buf_release(&p->received);
	free(p);
	return 0;
}

static void receive(struct pipes *p)
{
	char data[4096];
	ssize_t len;

	while ((len = read(p->out, data, sizeof(data))) > 0)
		buf_put(&p->received, data, (size_t)len);
}

/* Turns the loop until `text` has come. */
static void await(struct pipes *p, const char *text)
{
	size_t from = 0;

	for (int i = 0; i < TURNS_MAX; i++) {
		receive(p);
		if (strstr(buf_str(&p->received) + from, text) != NULL)
			return;
		from = p->received.len - size_min(p->received.len, strlen(text));
		loop_turn(p->f.loop, 1);
	}
	fail_msg("'%s' never came, but: %.500s", text, buf_str(&p->received));
}

/* Turns the loop without time passing; what is due now has happened after it. */
static void settle(struct pipes *p)
{
	for (int i = 0; i < 20; i++)
		loop_turn(p->f.loop, 0);
}

static void send(struct pipes *p, const char *text)
{
	assert_int_equal(write(p->in, text, strlen(text)), strlen(text));
}

#define CALL(id, tool)                                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":\"" id                                                        \
	"\",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\"," CLAIM("") "}}\n"

static void two_requests_in_one_read_and_a_half_line_are_served(void **state)
{
	struct pipes *p = *state;

	send(p, CALL("a", "release") CALL("b", "release") "{\"jsonrpc\":\"2.0\",");
	await(p, "\"id\":\"b\"");
	send(p, "\"id\":\"c\",\"method\":\"ping\"}\n");
	await(p, "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"result\":{}}\n");
	assert_non_null(strstr(buf_str(&p->received), "\"id\":\"a\""));
}

static void SD_1_the_end_of_input_comes_after_the_answers(void **state)
{
	struct pipes *p = *state;

	send(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	fd_close(&p->in);
	await(p, "\"id\":1");
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
}

static const char big[] =
	"{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"method\":\"tools/call\","
	"\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":900000}," CLAIM("") "}}\n";

static void at_the_end_of_a_pipe_what_was_asked_is_answered(void **state)
{
	struct pipes *p = *state;

	send(p, CALL("slow", "hold"));
	fd_close(&p->in);
	settle(p);
	fixture_now += 40 * 1000;
	settle(p);
	assert_int_equal(p->end, NOT_DONE);
	release_held(&p->f);
	await(p, "released");
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
	assert_int_equal(mcp_server_live_calls(p->f.server), 0);
}

static void a_client_that_takes_no_answer_is_given_up(void **state)
{
	struct pipes *p = *state;

	send(p, big);
	fd_close(&p->in);
	settle(p);
	fixture_now += 9 * 1000;
	settle(p);
	receive(p); /* it still takes something */
	fixture_now += 9 * 1000;
	settle(p);
	assert_int_equal(p->end, NOT_DONE);
	fixture_now += 10 * 1000;
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
	assert_true(mcp_stdio_pending(p->stdio) > 0);
}

static void draining_waits_as_long_as_a_call_takes(void **state)
{
	struct pipes *p = *state;

	send(p, CALL("slow", "hold"));
	fd_close(&p->in);
	settle(p);
	fixture_now += 3600 * 1000;
	settle(p);
	assert_int_equal(p->end, NOT_DONE);
	release_held(&p->f);
	await(p, "released");
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
}

static void a_cancelled_call_holds_the_end_up_no_longer(void **state)
{
	struct pipes *p = *state;

	send(p, CALL("slow", "hold") "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				     "\"params\":{\"requestId\":\"slow\"}}\n");
	fd_close(&p->in);
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
}

static void SD_3_a_closed_stdout_ends(void **state)
{
	struct pipes *p = *state;

	fd_close(&p->out);
	send(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_CLOSED);
}

static void SD_3_a_reader_that_goes_is_noticed_during_a_call(void **state)
{
	struct pipes *p = *state;

	send(p, CALL("slow", "hold"));
	settle(p);
	fd_close(&p->in);
	fd_close(&p->out);
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_CLOSED);
}

static void output_may_go_to_a_file(void **state)
{
	struct pipes *p = *state;
	struct mcp_stdio_options options = { .in_fd = p->server_in, .done = on_done, .context = p };
	FILE *file = tmpfile();
	char line[64] = "";
	struct err err;

	mcp_stdio_free(p->stdio);
	options.out_fd = fileno(file);
	p->stdio = mcp_stdio_new(p->f.loop, p->f.server, &options, &err);
	send(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
	fd_close(&p->in);
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
	rewind(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
	mcp_stdio_free(p->stdio);
	p->stdio = NULL;
	(void)fclose(file);
}

static void SD_2_a_signal_ends_at_once_and_further_ones_stay_pending(void **state)
{
	struct pipes *p = *state;
	sigset_t hangup;

	send(p, CALL("slow", "hold"));
	settle(p);
	assert_int_equal(raise(SIGHUP), 0);
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_SIGNAL);
	assert_int_equal(raise(SIGHUP), 0);
	settle(p);
	assert_int_equal(sigemptyset(&hangup) | sigaddset(&hangup, SIGHUP), 0);
	assert_int_equal(sigtimedwait(&hangup, NULL, &(struct timespec){ 0 }), SIGHUP);
}

static void an_owner_that_has_gone_ends(void **state)
{
	struct pipes *p = *state;
	struct mcp_stdio_options options = {
		.in_fd = p->server_in, .out_fd = p->server_out, .done = on_done, .context = p
	};
	int owner[2];
	struct err err;

	mcp_stdio_free(p->stdio);
	make_pipe(&owner[0], &owner[1]);
	options.owner_fd = owner[0];
	p->stdio = mcp_stdio_new(p->f.loop, p->f.server, &options, &err);
	assert_non_null(p->stdio);
	send(p, CALL("slow", "hold"));
	settle(p);
	assert_int_equal(p->end, NOT_DONE);
	fd_close(&owner[1]);
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_ORPHANED);
	mcp_stdio_free(p->stdio);
	p->stdio = NULL;
	fd_close(&owner[0]);
}

static void answers_count_as_read_once_the_client_has_taken_them(void **state)
{
	static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
	static const char pong[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
	struct pipes *p = *state;
	const uint64_t len = strlen(pong);

	send(p, ping);
	settle(p);
	assert_int_equal(mcp_stdio_written(p->stdio), len);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), 0);
	receive(p);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), len);
	send(p, ping);
	settle(p);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), len);
	receive(p);
	send(p, CALL("slow", "hold"));
	fd_close(&p->in);
	settle(p);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), 2 * len);
	release_held(&p->f);
	await(p, "released");
	assert_true(mcp_stdio_written(p->stdio) > 2 * len);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), 2 * len);
}

static void output_that_waits_here_or_in_the_kernel_is_not_read(void **state)
{
	struct pipes *p = *state;

	send(p, big);
	settle(p);
	assert_true(mcp_stdio_pending(p->stdio) > 0);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), 0);
	receive(p);
	assert_true(mcp_stdio_surely_read(p->stdio) > 0);
	fd_close(&p->out);
	settle(p);
	assert_int_equal(mcp_stdio_surely_read(p->stdio), 0);
}

static void SD_1_an_end_behind_full_output_is_noticed_when_nothing_is_taken(void **state)
{
	struct pipes *p = *state;

	for (int i = 0; i < 20; i++) {
		send(p, big);
		settle(p);
	}
	fd_close(&p->in);
	fixture_now += 2000;
	settle(p);
	receive(p); /* it still takes something */
	settle(p);
	fixture_now += 2000;
	settle(p);
	assert_int_equal(p->end, NOT_DONE);
	fixture_now += 2000;
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
}

static void FR_7_a_slow_reader_stops_the_reading_and_loses_nothing(void **state)
{
	struct pipes *p = *state;
	size_t lines = 0;

	for (int i = 0; i < 20; i++) {
		send(p, big);
		settle(p);
	}
	assert_true(mcp_stdio_pending(p->stdio) < 6000000);
	send(p, "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}\n");
	await(p, "\"id\":\"last\"");
	for (size_t i = 0; i < p->received.len; i++)
		lines += p->received.data[i] == '\n';
	assert_int_equal(lines, 21);
	assert_true(p->received.len > 20 * 900000);
}

/* A server that reads `text` as a regular file. */
static struct pipes *start_on_file(const char *text)
{
	struct pipes *p = xcalloc(1, sizeof(*p));
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	rewind(file);
	p->in = -1;
	p->server_in = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
	(void)fclose(file);
	make_pipe(&p->out, &p->server_out);
	assert_int_equal(fcntl(p->out, F_SETFL, O_NONBLOCK), 0);
	start(p, false);
	return p;
}

static void a_regular_file_is_answered_without_a_time_limit(void **state)
{
	struct pipes *p = start_on_file(CALL("slow", "hold"));

	*state = p;
	settle(p);
	fixture_now += 3600 * 1000;
	settle(p);
	assert_int_equal(p->end, NOT_DONE);
	release_held(&p->f);
	await(p, "released");
	settle(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
	(void)teardown(state);
}

static void a_file_with_many_requests_is_read_no_faster_than_it_is_served(void **state)
{
	struct buf text;
	struct pipes *p;

	buf_init(&text, BUF_UNBOUNDED);
	for (int i = 0; i < 500; i++)
		buf_putf(&text,
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
			 "\"name\":\"hold\"," CLAIM("") "}}\n",
			 i);
	p = start_on_file(buf_str(&text));
	*state = p;
	for (int i = 0; i < 500 && p->end == NOT_DONE; i++) {
		settle(p);
		assert_true(mcp_server_live_calls(p->f.server) < 60);
		release_held(&p->f);
		receive(p);
	}
	settle(p);
	receive(p);
	assert_int_equal(p->end, MCP_STDIO_EOF);
	assert_null(strstr(buf_str(&p->received), "error"));
	assert_non_null(strstr(buf_str(&p->received), "\"id\":499"));
	buf_release(&text);
	(void)teardown(state);
}

/* Runs a server whose parent goes; says in `report` how it ended. */
static void run_orphan(int ready, int parent_alive, int report)
{
	struct pipes *p = xcalloc(1, sizeof(*p));
	char byte = 'x';

	start_on_pipes(p, false);
	(void)!write(ready, &byte, 1);
	(void)!read(parent_alive, &byte, 1); /* returns when the parent has gone */
	/* It closes its files shortly before we get another parent. */
	for (int i = 0; i < TURNS_MAX && p->end == NOT_DONE; i++) {
		fixture_now += 2000;
		loop_turn(p->f.loop, 0);
	}
	byte = (char)('0' + p->end);
	(void)!write(report, &byte, 1);
	_exit(0);
}

static void SD_4_a_parent_that_has_gone_ends(void **state)
{
	int alive[2];
	int ready[2];
	int report[2];
	char byte = '?';
	pid_t parent;

	(void)state;
	make_pipe(&alive[0], &alive[1]);
	make_pipe(&ready[0], &ready[1]);
	make_pipe(&report[0], &report[1]);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		if (fork() == 0) {
			fd_close(&alive[1]);
			run_orphan(ready[1], alive[0], report[1]);
		}
		(void)!read(ready[0], &byte, 1);
		_exit(0);
	}
	fd_close(&alive[1]);
	fd_close(&ready[1]);
	fd_close(&report[1]);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(read(report[0], &byte, 1), 1);
	assert_int_equal(byte, '0' + MCP_STDIO_ORPHANED);
	fd_close(&alive[0]);
	fd_close(&ready[0]);
	fd_close(&report[0]);
}

/* In a child whose 0 and 1 are pipes: 0 when all is as promised, else which promise broke. */
static int check_taking(void)
{
	struct stat out;
	struct stat err_stat;
	struct err err;
	char byte;
	int in_fd;
	int out_fd;

	if (mcp_stdio_take(&in_fd, &out_fd, &err) < 0)
		return 1;
	if (in_fd < 3 || out_fd < 3 || (fcntl(in_fd, F_GETFD) & FD_CLOEXEC) == 0 ||
	    (fcntl(out_fd, F_GETFD) & FD_CLOEXEC) == 0)
		return 2;
	if (read(STDIN_FILENO, &byte, 1) != 0)
		return 3;
	if (fstat(STDOUT_FILENO, &out) < 0 || fstat(STDERR_FILENO, &err_stat) < 0 ||
	    out.st_ino != err_stat.st_ino || out.st_dev != err_stat.st_dev)
		return 4;
	return write(out_fd, "x", 1) == 1 ? 0 : 5;
}

static void FR_2_the_protocol_is_moved_away_from_0_and_1(void **state)
{
	int in_read;
	int in_write;
	int out_read;
	int out_write;
	int status = -1;
	char byte = '?';
	pid_t pid;

	(void)state;
	make_pipe(&in_read, &in_write);
	make_pipe(&out_read, &out_write);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (dup2(in_read, STDIN_FILENO) < 0 || dup2(out_write, STDOUT_FILENO) < 0)
			_exit(9);
		_exit(check_taking());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(out_read, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	fd_close(&in_read);
	fd_close(&in_write);
	fd_close(&out_read);
	fd_close(&out_write);
}

#define PIPES(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PIPES(two_requests_in_one_read_and_a_half_line_are_served),
		PIPES(SD_1_the_end_of_input_comes_after_the_answers),
		PIPES(at_the_end_of_a_pipe_what_was_asked_is_answered),
		PIPES(a_client_that_takes_no_answer_is_given_up),
		cmocka_unit_test_setup_teardown(draining_waits_as_long_as_a_call_takes, setup_drain,
						teardown),
		PIPES(a_cancelled_call_holds_the_end_up_no_longer),
		PIPES(SD_3_a_closed_stdout_ends),
		PIPES(SD_3_a_reader_that_goes_is_noticed_during_a_call),
		cmocka_unit_test_setup_teardown(output_may_go_to_a_file, setup_drain, teardown),
		PIPES(SD_2_a_signal_ends_at_once_and_further_ones_stay_pending),
		PIPES(an_owner_that_has_gone_ends),
		PIPES(answers_count_as_read_once_the_client_has_taken_them),
		PIPES(output_that_waits_here_or_in_the_kernel_is_not_read),
		PIPES(SD_1_an_end_behind_full_output_is_noticed_when_nothing_is_taken),
		PIPES(FR_7_a_slow_reader_stops_the_reading_and_loses_nothing),
		cmocka_unit_test(a_regular_file_is_answered_without_a_time_limit),
		cmocka_unit_test(a_file_with_many_requests_is_read_no_faster_than_it_is_served),
		cmocka_unit_test(SD_4_a_parent_that_has_gone_ends),
		cmocka_unit_test(FR_2_the_protocol_is_moved_away_from_0_and_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
