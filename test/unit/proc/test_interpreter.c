/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <cmocka.h>

#include "interpreter_fixture.h"

static void an_interpreter_starts_exits_and_is_gone_in_this_order(void **state)
{
	(void)state;
	fixture_fake(STEP("exit=7"));
	fixture_expect("started exited gone ");
	assert_true(WIFEXITED(fixture.wait_status));
	assert_int_equal(WEXITSTATUS(fixture.wait_status), 7);
}

static void terminal_and_control_channel_carry_bytes_both_ways(void **state)
{
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	fixture_fake(STEP("print=on the terminal;"), STEP("tell=on the channel;"), STEP("hear"),
		     STEP("exit=3"));
	fixture_expect("started ");
	fixture_hear("on the channel;");
	assert_false(interpreter_is_forked(fixture.interpreter));
	fixture_read_until(interpreter_pty(fixture.interpreter), ";", &out);
	assert_string_equal(buf_str(&out), "on the terminal;");
	fixture_go();
	fixture_expect("started exited gone ");
	assert_int_equal(WEXITSTATUS(fixture.wait_status), 3);
}

static void a_program_that_does_not_exist_is_named(void **state)
{
	(void)state;
	fixture_start((char *const[]){ STEP("/nowhere/python3"), NULL });
	fixture_expect("failed ");
	assert_int_equal(fixture.err.code, ERR_SYSTEM);
	assert_int_equal(fixture.err.sys, ENOENT);
	assert_string_equal(fixture.err.msg,
			    "starting '/nowhere/python3': No such file or directory");
}

static void a_folder_that_does_not_exist_is_named(void **state)
{
	char *const argv[] = { STEP(FAKE_INTERPRETER), NULL };
	char *const envp[] = { NULL };
	struct interpreter_spec spec = { .argv = argv, .envp = envp, .cwd = "/nowhere" };

	(void)state;
	fixture_start_spec(&spec);
	fixture_expect("failed ");
	assert_string_equal(fixture.err.msg, "entering '/nowhere': No such file or directory");
}

static void a_relative_program_is_refused(void **state)
{
	(void)state;
	fixture_start((char *const[]){ STEP("python3"), NULL });
	fixture_expect("failed ");
	assert_int_equal(fixture.err.code, ERR_INVALID);
}

static void a_launcher_that_does_not_exist_fails_the_start(void **state)
{
	(void)state;
	sandbox_close(fixture.sandbox, NULL, NULL);
	launcher_free(fixture.launcher);
	fixture.launcher = launcher_new(fixture.loop, "/nowhere/launcher");
	fixture_open_sandbox();
	fixture_fake(STEP("wait"));
	fixture_expect("failed ");
	assert_string_equal(fixture.err.msg,
			    "starting '/nowhere/launcher': No such file or directory");
}

static void a_crash_is_reported_with_its_signal(void **state)
{
	(void)state;
	fixture_fake(STEP("crash=6"));
	fixture_expect("started exited gone ");
	assert_true(WIFSIGNALED(fixture.wait_status));
	assert_int_equal(WTERMSIG(fixture.wait_status), SIGABRT);
}

static void children_that_outlive_it_keep_it_from_being_gone(void **state)
{
	(void)state;
	fixture_fake(STEP("grandchild"), STEP("daemons=3"), STEP("exit=0"));
	fixture_expect("started exited ");
	/* The hangup ends the child that is on the terminal. */
	do
		interpreter_count_children(fixture.interpreter, fixture_counted);
	while (fixture_answer() == 4);
	interpreter_count_children(fixture.interpreter, fixture_counted);
	assert_int_equal(fixture_answer(), 3);
	assert_string_equal(fixture.said, "started exited ");
	interpreter_signal_tree(fixture.interpreter, SIGKILL);
	fixture_expect("started exited gone ");
}

static void children_are_counted_without_the_interpreter(void **state)
{
	(void)state;
	fixture_fake(STEP("grandchild"), STEP("daemons=2"), STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	interpreter_count_children(fixture.interpreter, fixture_counted);
	assert_int_equal(fixture_answer(), 3);
}

static void questions_about_a_tree_that_is_gone_are_answered(void **state)
{
	(void)state;
	fixture_fake(STEP("exit=0"));
	fixture_expect("started exited gone ");
	interpreter_count_children(fixture.interpreter, fixture_counted);
	assert_int_equal(fixture_answer(), 0);
	interpreter_check_input(fixture.interpreter, fixture_looked);
	assert_int_equal(fixture_answer(), INPUT_NOT_AWAITED);
	assert_string_equal(fixture.said, "started exited gone ");
}

static void a_signal_to_the_tree_reaches_every_process(void **state)
{
	cleanup_buf struct buf heard;

	(void)state;
	buf_init(&heard, BUF_UNBOUNDED);
	fixture_fake(STEP("catch=10"), STEP("grandchild"), STEP("grandchild"), STEP("tell=up"),
		     STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	interpreter_signal_tree(fixture.interpreter, SIGUSR1);
	fixture_read_until(interpreter_control(fixture.interpreter),
			   "<signal 10><signal 10><signal 10>", &heard);
}

static void killing_the_tree_leaves_no_process_of_a_runaway_forker(void **state)
{
	(void)state;
	fixture_fake(STEP("tell=up"), STEP("runaway=2000"));
	fixture_expect("started ");
	fixture_hear("up");
	fixture_expect("started exited ");
	interpreter_signal_tree(fixture.interpreter, SIGKILL);
	fixture_expect("started exited gone ");
}

static void the_environment_is_exactly_what_was_given(void **state)
{
	char *const argv[] = { STEP(FAKE_INTERPRETER), STEP("environment"), STEP("tell=."),
			       STEP("wait"), NULL };
	char *const envp[] = { STEP("A=1"), STEP("EMPTY="), STEP("TEXT=two\twords"), NULL };
	struct interpreter_spec spec = { .argv = argv, .envp = envp };

	(void)state;
	assert_int_equal(setenv("PTYCELL_TEST_SECRET", "1", 1), 0);
	fixture_start_spec(&spec);
	fixture_expect("started ");
	fixture_hear("A=1\nEMPTY=\nTEXT=two\twords\n.");
}

static void arguments_larger_than_a_message_arrive(void **state)
{
	size_t len = (size_t)100 * 1024;
	char *step = calloc(1, len + 8);
	char *heard = calloc(1, len + 1);
	size_t got = 0;
	int control;

	(void)state;
	memcpy(step, "tell=", 5);
	memset(step + 5, 'x', len);
	fixture_fake(step, STEP("wait"));
	fixture_expect("started ");
	control = interpreter_control(fixture.interpreter);
	while (got < len) {
		ssize_t n;

		assert_int_equal(
			poll(&(struct pollfd){ .fd = control, .events = POLLIN }, 1, PATIENCE_MS),
			1);
		n = read(control, heard + got, len - got);
		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_memory_equal(heard, step + 5, len);
	free(step);
	free(heard);
}

static void an_environment_over_the_cap_is_refused(void **state)
{
	char *variable = calloc(1, PLAN_STRING_BYTES_MAX + 1);
	char *const argv[] = { STEP(FAKE_INTERPRETER), NULL };
	char *const envp[] = { variable, NULL };
	struct interpreter_spec spec = { .argv = argv, .envp = envp };

	(void)state;
	memset(variable, 'x', PLAN_STRING_BYTES_MAX);
	fixture_start_spec(&spec);
	free(variable);
	fixture_expect("failed ");
	assert_int_equal(fixture.err.code, ERR_LIMIT);
}

static void it_has_only_its_own_descriptors(void **state)
{
	int leak = dup2(STDERR_FILENO, 77); /* inheritable, as an MCP host may leave descriptors */

	(void)state;
	fixture_close();
	fixture_open();
	fixture_fake(STEP("descriptors"), STEP("tell=."), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("0 1 2 3 .");
	assert_int_equal(close(leak), 0);
}

static void declared_descriptors_have_their_numbers_and_directions(void **state)
{
	static const struct plan_descriptor descriptors[] = {
		{ "stdin", 0, PLAN_PIPE_IN },
		{ "out", 5, PLAN_PIPE_OUT },
		{ "control", 3, PLAN_SOCKET },
	};
	char *const argv[] = { STEP("/bin/sh"), STEP("-c"), STEP("cat >&5; echo over >&3"), NULL };
	char *const envp[] = { NULL };
	struct interpreter_spec spec = { .argv = argv,
					 .envp = envp,
					 .descriptors = descriptors,
					 .descriptor_count = ARRAY_SIZE(descriptors) };
	cleanup_buf struct buf out;
	cleanup_buf struct buf over;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	buf_init(&over, BUF_UNBOUNDED);
	fixture_start_spec(&spec);
	fixture_expect("started ");
	assert_int_equal(
		write(interpreter_descriptor(fixture.interpreter, "stdin"), "through\n", 8), 8);
	fixture_read_until(interpreter_descriptor(fixture.interpreter, "out"), "\n", &out);
	assert_string_equal(buf_str(&out), "through\n");
	assert_int_equal(interpreter_descriptor(fixture.interpreter, "none"), -1);
	interpreter_signal_tree(fixture.interpreter, SIGKILL);
	fixture_expect("started exited gone ");
}

static void a_pipe_aside_is_full_rather_than_waited_for(void **state)
{
	static const struct plan_descriptor descriptors[] = {
		{ "control", 3, PLAN_SOCKET },
		{ "aside", 5, PLAN_PIPE_ASIDE },
	};
	char *const argv[] = { STEP("/bin/sh"), STEP("-c"),
			       STEP("echo some >&5; (head -c 300000 /dev/zero >&5) 2>&3"), NULL };
	char *const envp[] = { NULL };
	struct interpreter_spec spec = { .argv = argv,
					 .envp = envp,
					 .descriptors = descriptors,
					 .descriptor_count = ARRAY_SIZE(descriptors) };
	cleanup_buf struct buf out;

	(void)state;
	buf_init(&out, BUF_UNBOUNDED);
	fixture_start_spec(&spec);
	fixture_expect("started ");
	fixture_read_until(interpreter_control(fixture.interpreter), "\n", &out);
	assert_non_null(strstr(buf_str(&out), "Resource temporarily unavailable"));
	buf_clear(&out);
	fixture_read_until(interpreter_descriptor(fixture.interpreter, "aside"), "\n", &out);
	assert_memory_equal(buf_str(&out), "some\n", 5);
	fixture_expect("started exited gone ");
}

static void signals_are_default_but_for_that_of_large_files(void **state)
{
	(void)state;
	fixture_close();
	(void)sigaction(SIGINT, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	(void)sigaction(SIGHUP, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	fixture_open();
	fixture_fake(STEP("signals"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("25 ignored or blocked checked"); /* SIGXFSZ */
}

static void the_policy_limits_it(void **state)
{
	struct policy policy;

	(void)state;
	fixture_policy(&policy);
	policy.open_files_max = 2000;
	policy.memory_max = (uint64_t)1 << 30;
	sandbox_close(fixture.sandbox, NULL, NULL);
	fixture_open_policy(&policy);
	fixture_fake(STEP("limits"), STEP("tell=."), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("1-1 2000-2000 1073741824-1073741824 .");
}

static void without_a_folder_it_works_in_the_workspace(void **state)
{
	(void)state;
	fixture_fake(STEP("folder"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear(fixture_is_confined() ? POLICY_DATA : "/tmp");
}

static void a_closed_control_channel_does_not_end_it(void **state)
{
	char byte;

	(void)state;
	fixture_fake(STEP("close-control"), STEP("print=closed"), STEP("wait"));
	fixture_expect("started ");
	assert_int_equal(poll(&(struct pollfd){ .fd = interpreter_control(fixture.interpreter),
						.events = POLLIN },
			      1, PATIENCE_MS),
			 1);
	assert_int_equal(read(interpreter_control(fixture.interpreter), &byte, 1), 0);
	assert_string_equal(fixture.said, "started ");
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n;
}

static void descriptors_that_it_sends_are_dropped(void **state)
{
	char chunk[4096];
	size_t got = 0;
	int before;
	int control;

	(void)state;
	fixture_fake(STEP("send-descriptors=10000"), STEP("wait"));
	fixture_expect("started ");
	before = count_descriptors();
	control = interpreter_control(fixture.interpreter);
	while (got < 10000) {
		ssize_t n;

		assert_int_equal(
			poll(&(struct pollfd){ .fd = control, .events = POLLIN }, 1, PATIENCE_MS),
			1);
		n = read(control, chunk, sizeof(chunk));
		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_int_equal(count_descriptors(), before);
}

static void freeing_one_that_is_starting_kills_it(void **state)
{
	(void)state;
	fixture_fake(STEP("wait"));
	interpreter_free(fixture.interpreter);
	fixture.interpreter = NULL;
	fixture_fake(STEP("exit=0"));
	fixture_expect("started exited gone ");
}

/* ---- freed within its own callbacks ---- */

static void free_it(struct interpreter *interpreter)
{
	fixture_say("freed");
	fixture.interpreter = NULL;
	interpreter_free(interpreter);
}

static void free_on_failure(struct interpreter *interpreter, const struct err *err)
{
	(void)err;
	free_it(interpreter);
}

static void free_on_exit(struct interpreter *interpreter, int wait_status)
{
	(void)wait_status;
	free_it(interpreter);
}

static void free_on_count(struct interpreter *interpreter, int count)
{
	(void)count;
	free_it(interpreter);
}

static void it_may_be_freed_in_every_callback(void **state)
{
	const struct interpreter_handlers handlers[] = {
		{ free_it, free_on_failure, free_on_exit, free_it },
		{ fixture_started, free_on_failure, free_on_exit, free_it },
		{ fixture_started, free_on_failure, fixture_exited, free_it },
	};
	const char *const said[] = { "freed ", "started freed ", "started exited freed " };
	char *const good[] = { STEP(FAKE_INTERPRETER), STEP("exit=0"), NULL };
	char *const bad[] = { STEP("/nowhere"), NULL };
	char *const envp[] = { NULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		struct interpreter_spec spec = { .argv = good, .envp = envp };

		fixture.said[0] = '\0';
		fixture.interpreter = interpreter_start(fixture.sandbox, &spec, &handlers[i], NULL);
		fixture_expect(said[i]);
		spec.argv = bad;
		fixture.said[0] = '\0';
		fixture.interpreter = interpreter_start(fixture.sandbox, &spec, &handlers[i], NULL);
		fixture_expect("freed ");
	}
}

static void it_may_be_freed_by_an_answer(void **state)
{
	(void)state;
	fixture_fake(STEP("exit=0"));
	fixture_expect("started exited gone ");
	/* Two questions to an interpreter that is gone: the first answer frees it. */
	interpreter_count_children(fixture.interpreter, free_on_count);
	interpreter_count_children(fixture.interpreter, free_on_count);
	fixture_expect("started exited gone freed ");
	fixture_fake(STEP("wait"));
	fixture_expect("started ");
	interpreter_count_children(fixture.interpreter, free_on_count);
	fixture_expect("started freed ");
}

static void its_data_is_what_was_given(void **state)
{
	char *const argv[] = { STEP(FAKE_INTERPRETER), NULL };
	char *const envp[] = { NULL };
	struct interpreter_spec spec = { .argv = argv, .envp = envp };
	int data;

	(void)state;
	fixture.interpreter = interpreter_start(fixture.sandbox, &spec, &fixture_handlers, &data);
	assert_ptr_equal(interpreter_data(fixture.interpreter), &data);
	fixture_expect("started exited gone ");
}

static void two_interpreters_of_a_sandbox_do_not_share_their_end(void **state)
{
	struct interpreter *first;

	(void)state;
	fixture_fake(STEP("tell=first"), STEP("hear"), STEP("tell=still here"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("first");
	first = fixture.interpreter;
	fixture_fake(STEP("daemons=1"), STEP("exit=0"));
	fixture_expect("started exited ");
	interpreter_signal_tree(fixture.interpreter, SIGKILL);
	fixture_expect("started exited gone ");
	interpreter_free(fixture.interpreter);
	fixture.interpreter = first;
	fixture_go();
	fixture_hear("still here");
}

/* Every process below comes to this one when its parent dies, so none can escape unseen. */
static void wait_until_childless(void)
{
	patience_until(waitpid(-1, NULL, WNOHANG) < 0);
	assert_int_equal(errno, ECHILD);
}

static void two_hundred_opened_and_closed_leave_nothing(void **state)
{
	enum { ROUNDS = 200 };
	int before;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fixture_close_sandbox(); /* the launcher's descriptors are open by now */
	before = count_descriptors();
	for (int i = 0; i < ROUNDS; i++) {
		fixture_open_sandbox();
		fixture_fake(STEP("daemons=1"), STEP("tell=up"), STEP("wait"));
		fixture_expect("started ");
		fixture_hear("up");
		fixture_close_sandbox();
	}
	assert_int_equal(count_descriptors(), before);
	fixture_close();
	wait_until_childless();
	fixture_open(); /* for the tear-down */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_interpreter_starts_exits_and_is_gone_in_this_order),
		TEST(terminal_and_control_channel_carry_bytes_both_ways),
		TEST(a_program_that_does_not_exist_is_named),
		TEST(a_folder_that_does_not_exist_is_named),
		TEST(a_relative_program_is_refused),
		TEST(a_launcher_that_does_not_exist_fails_the_start),
		TEST(a_crash_is_reported_with_its_signal),
		TEST(children_that_outlive_it_keep_it_from_being_gone),
		TEST(children_are_counted_without_the_interpreter),
		TEST(questions_about_a_tree_that_is_gone_are_answered),
		TEST(a_signal_to_the_tree_reaches_every_process),
		TEST(killing_the_tree_leaves_no_process_of_a_runaway_forker),
		TEST(the_environment_is_exactly_what_was_given),
		TEST(arguments_larger_than_a_message_arrive),
		TEST(an_environment_over_the_cap_is_refused),
		TEST(it_has_only_its_own_descriptors),
		TEST(declared_descriptors_have_their_numbers_and_directions),
		TEST(a_pipe_aside_is_full_rather_than_waited_for),
		TEST(signals_are_default_but_for_that_of_large_files),
		TEST(the_policy_limits_it),
		TEST(without_a_folder_it_works_in_the_workspace),
		TEST(a_closed_control_channel_does_not_end_it),
		TEST(descriptors_that_it_sends_are_dropped),
		TEST(freeing_one_that_is_starting_kills_it),
		TEST(it_may_be_freed_in_every_callback),
		TEST(it_may_be_freed_by_an_answer),
		TEST(its_data_is_what_was_given),
		TEST(two_interpreters_of_a_sandbox_do_not_share_their_end),
		TEST(two_hundred_opened_and_closed_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
