/* SPDX-License-Identifier: MIT */
/* The terminal's cases (TT), and waiting for input (WT), with real programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <sys/ioctl.h>
#include <cmocka.h>

#include "interpreter_fixture.h"

#define PYTHON "/usr/bin/python3"
#define BASE_TERMINAL "120x40 tty 111 echo 1 icanon 1 opost 0 leader 1"

static void read_flood(size_t bytes, struct buf *out)
{
	char last[128];

	(void)snprintf(last, sizeof(last), "%098zu\r\n", bytes / 100 - 1);
	fixture_read_until(interpreter_pty(fixture.interpreter), last, out);
	assert_int_equal(out->len, bytes);
	for (size_t i = 0; i < bytes / 100; i++) {
		(void)snprintf(last, sizeof(last), "%098zu\r\n", i);
		assert_memory_equal(out->data + i * 100, last, 100);
	}
}

/* TT01 */
static void an_interrupt_loses_no_pending_output(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	fixture_fake(STEP("catch=2"), STEP("flood=9000"), STEP("tell=flooded"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("flooded");
	interpreter_signal_foreground(fixture.interpreter, SIGINT);
	fixture_hear("<signal 02>");
	read_flood(9000, &out);
}

/* TT02 */
static void an_interrupt_reaches_a_program_in_raw_mode(void **state)
{
	(void)state;
	fixture_fake(STEP("catch=2"), STEP("raw"), STEP("tell=raw"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("raw");
	interpreter_signal_foreground(fixture.interpreter, SIGINT);
	fixture_hear("<signal 02>");
}

static void an_ignored_interrupt_leaves_it_alive(void **state)
{
	(void)state;
	fixture_fake(STEP("ignore=2"), STEP("catch=3"), STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	interpreter_signal_foreground(fixture.interpreter, SIGINT);
	interpreter_signal_foreground(fixture.interpreter, SIGQUIT);
	fixture_hear("<signal 03>");
}

/* TT07 */
static void a_reset_heals_what_a_program_left_behind(void **state)
{
	struct winsize size = { .ws_row = 3, .ws_col = 7 };
	struct err err;

	(void)state;
	fixture_fake(STEP("raw"), STEP("tell=raw"), STEP("hear"), STEP("terminal"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("raw");
	assert_int_equal(ioctl(interpreter_slave(fixture.interpreter), TIOCSWINSZ, &size), 0);
	assert_int_equal(interpreter_reset_terminal(fixture.interpreter, &err), 0);
	fixture_go();
	fixture_hear(BASE_TERMINAL);
}

/* TT10 */
static void it_has_a_terminal_of_120_by_40(void **state)
{
	(void)state;
	fixture_fake(STEP("terminal"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear(BASE_TERMINAL);
}

static void the_kernel_echoes_nothing(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	fixture_fake(STEP("tell=up"), STEP("hear"), STEP("print=end"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	assert_int_equal(write(interpreter_pty(fixture.interpreter), "typed\n", 6), 6);
	fixture_go();
	fixture_read_until(interpreter_pty(fixture.interpreter), "end", &out);
	assert_string_equal(buf_str(&out), "end");
}

/* DR05 */
static void output_pending_at_the_exit_is_complete(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		cleanup_buf struct buf out;

		buf_init(&out, BUF_UNBOUNDED);
		fixture_fake(STEP("flood=11000"), STEP("exit=0"));
		fixture_expect("started exited gone ");
		read_flood(11000, &out);
		interpreter_free(fixture.interpreter);
		fixture.interpreter = NULL;
	}
}

/* ---- input waits ---- */

static void start_python(const char *code)
{
	fixture_start((char *const[]){ STEP(PYTHON), STEP("-IS"), STEP("-c"), STEP(code), NULL });
	fixture_expect("started ");
}

static int look(void)
{
	interpreter_check_input(fixture.interpreter, fixture_looked);
	return fixture_answer();
}

/* Polls until the answer is `wait`, because the program needs a moment to get there. */
static void expect_wait(enum input_wait wait)
{
	uint64_t deadline = clock_ms() + PATIENCE_MS;
	int seen;

	while ((seen = look()) != (int)wait && clock_ms() < deadline)
		loop_turn(fixture.loop, 5);
	assert_int_equal(seen, wait);
}

/* The code has printed `up` and does not wait: observes many times. */
static void expect_no_wait(void)
{
	cleanup_buf struct buf heard;

	buf_init(&heard, BUF_UNBOUNDED);
	fixture_read_until(interpreter_control(fixture.interpreter), "up", &heard);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(look(), INPUT_NOT_AWAITED);
		loop_turn(fixture.loop, 1);
	}
}

static void python_input_waits(void **state) /* WT01 */
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	start_python("input('n? ')");
	expect_wait(INPUT_AWAITED);
	fixture_read_until(interpreter_pty(fixture.interpreter), "n? ", &out);
	assert_int_equal(write(interpreter_pty(fixture.interpreter), "5\n", 2), 2);
	fixture_expect("started exited gone ");
	assert_int_equal(fixture.wait_status, 0);
}

static void readline_input_waits(void **state)
{
	(void)state;
	start_python("import readline; input('n? ')");
	expect_wait(INPUT_AWAITED);
}

static void getpass_waits_for_a_secret(void **state) /* WT02 */
{
	(void)state;
	start_python("import getpass; getpass.getpass()");
	fixture.look.secret = false;
	expect_wait(INPUT_AWAITED);
	assert_true(fixture.look.secret);
	assert_false(fixture.look.child);
}

static void pdb_waits(void **state) /* WT03 */
{
	(void)state;
	start_python("breakpoint(); print()");
	expect_wait(INPUT_AWAITED);
}

static void input_in_a_thread_waits(void **state) /* WT04 */
{
	(void)state;
	start_python("import threading, time; threading.Thread(target=input).start(); "
		     "time.sleep(100)");
	expect_wait(INPUT_AWAITED);
}

static void a_child_that_reads_waits(void **state) /* WT05 */
{
	(void)state;
	start_python("import subprocess; subprocess.run('cat | sort', shell=True)");
	expect_wait(INPUT_AWAITED);
	assert_true(fixture.look.child);
	assert_string_equal(fixture.look.name, "cat");
	assert_false(fixture.look.secret);
}

static void asyncio_that_watches_the_terminal_waits(void **state)
{
	(void)state;
	start_python("import asyncio\n"
		     "async def f():\n"
		     "    asyncio.get_running_loop().add_reader(0, print)\n"
		     "    await asyncio.sleep(100)\n"
		     "asyncio.run(f())\n");
	expect_wait(INPUT_AWAITED);
}

static void a_select_on_the_terminal_waits(void **state)
{
	(void)state;
	start_python("import select; select.select([0], [], [])");
	expect_wait(INPUT_AWAITED);
}

static void a_poll_without_the_terminal_does_not_wait(void **state)
{
	(void)state;
	start_python("import os, select; p = select.poll(); p.register(3, 1); "
		     "p.register(0, select.POLLOUT * 0); os.write(3, b'up'); p.poll()");
	expect_no_wait();
}

static void sleep_is_no_wait(void **state) /* WT09 */
{
	(void)state;
	start_python("import os, time; os.write(3, b'up'); time.sleep(100)");
	expect_no_wait();
}

static void a_busy_loop_is_no_wait(void **state) /* WT09 */
{
	(void)state;
	start_python("import os; os.write(3, b'up')\nwhile True: pass");
	expect_no_wait();
}

static void accept_is_no_wait(void **state) /* WT09 */
{
	(void)state;
	start_python("import os, socket; s = socket.create_server(('127.0.0.1', 0)); "
		     "os.write(3, b'up'); s.accept()");
	expect_no_wait();
}

static void one_at_rest_on_its_channel_is_no_wait(void **state) /* WT14 */
{
	(void)state;
	fixture_fake(STEP("tell=up"), STEP("hear"));
	fixture_expect("started ");
	expect_no_wait();
}

static void a_background_reader_is_reported_as_stopped(void **state) /* WT13 */
{
	(void)state;
	fixture_start((char *const[]){ STEP("/bin/bash"), STEP("--norc"), STEP("-c"),
				       STEP("set -m; (read x) & sleep 100"), NULL });
	fixture_expect("started ");
	expect_wait(INPUT_AWAITED_BACKGROUND);
}

static void one_that_hides_is_a_guess(void **state) /* WT12 */
{
	(void)state;
	fixture_fake(STEP("hide"), STEP("read"));
	fixture_expect("started ");
	/* Root may trace every process, but a sandbox's root is root inside only. */
	expect_wait(geteuid() == 0 && !fixture_is_confined() ? INPUT_AWAITED : INPUT_MAYBE_AWAITED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_interrupt_loses_no_pending_output),
		TEST(an_interrupt_reaches_a_program_in_raw_mode),
		TEST(an_ignored_interrupt_leaves_it_alive),
		TEST(a_reset_heals_what_a_program_left_behind),
		TEST(it_has_a_terminal_of_120_by_40),
		TEST(the_kernel_echoes_nothing),
		TEST(output_pending_at_the_exit_is_complete),
		TEST(python_input_waits),
		TEST(readline_input_waits),
		TEST(getpass_waits_for_a_secret),
		TEST(pdb_waits),
		TEST(input_in_a_thread_waits),
		TEST(a_child_that_reads_waits),
		TEST(asyncio_that_watches_the_terminal_waits),
		TEST(a_select_on_the_terminal_waits),
		TEST(a_poll_without_the_terminal_does_not_wait),
		TEST(sleep_is_no_wait),
		TEST(a_busy_loop_is_no_wait),
		TEST(accept_is_no_wait),
		TEST(one_at_rest_on_its_channel_is_no_wait),
		TEST(a_background_reader_is_reported_as_stopped),
		TEST(one_that_hides_is_a_guess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
