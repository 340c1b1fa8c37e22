/* SPDX-License-Identifier: MIT */
/*
 * When one process is killed, the rest must follow. A small server is forked. This process is a
 * subreaper above it, so every process that escapes becomes its own child.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "interpreter_fixture.h"
#include "sandbox/process/proctree.h"

enum { DAEMONS = 5 };

/* Runs in the forked server: two sandboxes, one with daemons; sends a byte on `up` when all run. */
static void serve(int up)
{
	fixture_open();
	fixture_fake(STEP("daemons=5"), STEP("grandchild"), STEP("ignore=0"), STEP("tell=up"),
		     STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	fixture_open_sandbox();
	fixture_fake(STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	(void)!write(up, "u", 1);
	for (;;)
		loop_turn(fixture.loop, -1);
}

static pid_t start_server(void)
{
	int up[2];
	char byte;
	pid_t pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		serve(up[1]);
		_exit(1);
	}
	(void)close(up[1]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	(void)close(up[0]);
	return pid;
}

static bool has_name(pid_t pid, const char *name)
{
	char path[64];
	char text[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return proctree_read(path, text, sizeof(text)) && strncmp(text, name, strlen(name)) == 0 &&
	       text[strlen(name)] == '\n';
}

/* Counts the descendants with this name and sets *ret_pid to one of them. */
static int find_named(const char *name, pid_t *ret_pid)
{
	cleanup_pidlist struct pidlist list = { 0 };
	int n = 0;

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++)
		if (has_name(list.pids[i], name)) {
			*ret_pid = list.pids[i];
			n++;
		}
	return n;
}

/* Waits until no descendant has this name. */
static void wait_for_none(const char *name)
{
	pid_t pid;

	patience_until(find_named(name, &pid) == 0);
}

static void wait_for_end(void)
{
	patience_until(waitpid(-1, NULL, WNOHANG) < 0);
	assert_int_equal(errno, ECHILD);
}

static void a_server_has_one_launcher_an_init_each_and_a_supervisor_each(void **state)
{
	pid_t server = start_server();
	pid_t pid;

	(void)state;
	assert_int_equal(find_named("ptycell-launch", &pid), 1);
	assert_int_equal(find_named("ptycell-init", &pid), 2);
	assert_int_equal(find_named("ptycell-super", &pid), 2);
	assert_int_equal(find_named("fake_interprete", &pid), 1 + 1 + DAEMONS + 1);
	assert_int_equal(kill(server, SIGKILL), 0);
	wait_for_end();
}

static void killing_the_server_ends_everything(void **state)
{
	pid_t server = start_server();

	(void)state;
	assert_int_equal(kill(server, SIGKILL), 0);
	wait_for_end();
}

/* Kills all with this name. No process of the sessions may be left, although the server lives. */
static void kill_named(const char *name)
{
	pid_t server = start_server();
	cleanup_pidlist struct pidlist list = { 0 };
	int killed = 0;

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++)
		if (has_name(list.pids[i], name))
			killed += kill(list.pids[i], SIGKILL) == 0;
	assert_true(killed > 0);
	wait_for_none("fake_interprete");
	assert_int_equal(kill(server, SIGKILL), 0);
	wait_for_end();
}

static void killing_the_launcher_ends_every_session(void **state)
{
	(void)state;
	kill_named("ptycell-launch");
}

static void killing_the_inits_ends_their_sessions(void **state)
{
	(void)state;
	kill_named("ptycell-init");
}

static void killing_the_supervisors_ends_their_trees(void **state)
{
	(void)state;
	kill_named("ptycell-super");
}

static void killing_launcher_and_server_at_once_ends_everything(void **state)
{
	pid_t server = start_server();
	pid_t launcher = -1;

	(void)state;
	assert_int_equal(find_named("ptycell-launch", &launcher), 1);
	assert_int_equal(kill(launcher, SIGKILL), 0);
	assert_int_equal(kill(server, SIGKILL), 0);
	wait_for_end();
}

static void a_stopped_launcher_does_not_keep_sessions_alive(void **state)
{
	pid_t server = start_server();
	pid_t launcher = -1;

	(void)state;
	assert_int_equal(find_named("ptycell-launch", &launcher), 1);
	assert_int_equal(kill(launcher, SIGSTOP), 0);
	assert_int_equal(kill(server, SIGKILL), 0);
	wait_for_none("fake_interprete");
	assert_int_equal(kill(launcher, SIGKILL), 0);
	wait_for_end();
}

static void a_dead_launcher_is_reported_and_replaced(void **state)
{
	pid_t launcher = -1;

	(void)state;
	fixture_open();
	fixture_fake(STEP("daemons=1"), STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	assert_int_equal(find_named("ptycell-launch", &launcher), 1);
	assert_int_equal(kill(launcher, SIGKILL), 0);
	fixture_expect("started exited gone ");
	assert_int_equal(fixture.wait_status, SIGKILL);
	interpreter_free(fixture.interpreter);
	/* The old sandbox reports it, and a new one works. */
	fixture_fake(STEP("wait"));
	fixture_expect("failed ");
	interpreter_free(fixture.interpreter);
	sandbox_close(fixture.sandbox, NULL, NULL);
	memset(&fixture.err, 0, sizeof(fixture.err));
	fixture_open_sandbox();
	fixture_fake(STEP("exit=0"));
	fixture_expect("started exited gone ");
	fixture_close();
}

/*
 * The launcher is dead, but the loop has not noticed: the request fails first, and a new one takes
 * it.
 */
static void a_launcher_that_died_unnoticed_is_replaced(void **state)
{
	struct pollfd gone = { .events = POLLIN };
	pid_t launcher = -1;

	(void)state;
	fixture_open();
	fixture_fake(STEP("wait"));
	fixture_expect("started ");
	interpreter_free(fixture.interpreter);
	sandbox_close(fixture.sandbox, NULL, NULL);
	assert_int_equal(find_named("ptycell-launch", &launcher), 1);
	gone.fd = (int)syscall(SYS_pidfd_open, launcher, 0);
	assert_int_equal(kill(launcher, SIGKILL), 0);
	assert_int_equal(poll(&gone, 1, -1), 1);
	(void)close(gone.fd);
	fixture_open_sandbox();
	fixture_fake(STEP("exit=0"));
	fixture_expect("started exited gone ");
	fixture_close();
}

static void freeing_the_launcher_leaves_no_process(void **state)
{
	(void)state;
	fixture_open();
	fixture_fake(STEP("daemons=5"), STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	fixture_close();
	wait_for_end();
}

static void a_closed_sandbox_is_reported_when_nothing_is_left(void **state)
{
	pid_t pid;

	(void)state;
	fixture_open();
	fixture_fake(STEP("daemons=5"), STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	fixture_close_sandbox();
	assert_int_equal(find_named("fake_interprete", &pid), 0);
	fixture_close();
	wait_for_end();
}

static void a_sandbox_that_was_never_usable_is_reported_as_closed(void **state)
{
	(void)state;
	fixture_open();
	sandbox_close(fixture.sandbox, NULL, NULL);
	launcher_free(fixture.launcher);
	fixture.launcher = launcher_new(fixture.loop, "/nowhere");
	fixture_open_sandbox();
	fixture_close_sandbox();
	fixture_close();
}

static void a_session_that_stops_its_keepers_is_ended_all_the_same(void **state)
{
	pid_t init = -1;
	pid_t supervisor = -1;

	(void)state;
	fixture_open();
	fixture_fake(STEP("daemons=5"), STEP("tell=up"), STEP("wait"));
	fixture_expect("started ");
	fixture_hear("up");
	assert_int_equal(find_named("ptycell-init", &init), 1);
	assert_int_equal(find_named("ptycell-super", &supervisor), 1);
	assert_int_equal(kill(supervisor, SIGSTOP), 0);
	assert_int_equal(kill(init, SIGSTOP), 0);
	fixture_close_sandbox();
	wait_for_none("fake_interprete");
	fixture_close();
	wait_for_end();
}

/* More than a server allows, before the launcher had a chance to read. */
static void many_opened_at_once_all_start(void **state)
{
	enum { MANY = 150 };
	struct sandbox *sandboxes[MANY];
	struct interpreter *interpreters[MANY];
	char words[MANY * 8 + 1] = "";

	(void)state;
	fixture_open();
	for (int i = 0; i < MANY; i++) {
		if (i > 0)
			fixture_open_sandbox();
		fixture_fake(STEP("wait"));
		sandboxes[i] = fixture.sandbox;
		interpreters[i] = fixture.interpreter;
		memcpy(words + (size_t)i * 8, "started ", 9);
	}
	fixture_expect(words);
	for (int i = 0; i < MANY; i++) {
		interpreter_free(interpreters[i]);
		sandbox_close(sandboxes[i], NULL, NULL);
	}
	fixture.interpreter = NULL;
	fixture.sandbox = NULL;
	fixture_close();
	wait_for_end();
}

static void the_launcher_refuses_to_be_started_by_hand(void **state)
{
	int wait_status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		(void)close_range(STDERR_FILENO, ~0U, 0);
		(void)execl(LAUNCHER, LAUNCHER, (char *)NULL);
		_exit(77);
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_true(WIFEXITED(wait_status));
	assert_int_equal(WEXITSTATUS(wait_status), EXIT_FAILURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_has_one_launcher_an_init_each_and_a_supervisor_each),
		cmocka_unit_test(killing_the_server_ends_everything),
		cmocka_unit_test(killing_the_launcher_ends_every_session),
		cmocka_unit_test(killing_the_inits_ends_their_sessions),
		cmocka_unit_test(killing_the_supervisors_ends_their_trees),
		cmocka_unit_test(killing_launcher_and_server_at_once_ends_everything),
		cmocka_unit_test(a_stopped_launcher_does_not_keep_sessions_alive),
		cmocka_unit_test(a_dead_launcher_is_reported_and_replaced),
		cmocka_unit_test(a_launcher_that_died_unnoticed_is_replaced),
		cmocka_unit_test(freeing_the_launcher_leaves_no_process),
		cmocka_unit_test(a_closed_sandbox_is_reported_when_nothing_is_left),
		cmocka_unit_test(a_sandbox_that_was_never_usable_is_reported_as_closed),
		cmocka_unit_test(a_session_that_stops_its_keepers_is_ended_all_the_same),
		cmocka_unit_test(many_opened_at_once_all_start),
		cmocka_unit_test(the_launcher_refuses_to_be_started_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
