/* SPDX-License-Identifier: MIT */
/*
 * Tier namespaces where /proc cannot be mounted anew, as in a container that masks parts of its
 * own. The host's /proc is shared, and its numbers are not those of the session's processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <cmocka.h>

#include "confined_fixture.h"

/* For root only: mounts over a part of /proc, in a mount namespace of this program. */
static bool mask_proc(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", "/proc/irq", "tmpfs", MS_RDONLY, NULL) == 0;
}

static void a_session_works(void **state)
{
	(void)state;
	confined_expect("tty; echo x >/mnt/data/x && cat /mnt/data/x; "
			"(echo x >/proc/self/comm) 2>/dev/null || echo read-only",
			"/dev/pts/0\nx\nread-only\n");
	assert_true(strstr(confined_run("readlink /proc/self; echo $$"), "\n") != NULL);
}

static void the_tree_of_an_interpreter_is_counted_and_killed(void **state)
{
	(void)state;
	confined_start("sleep 1000 & setsid sleep 1000 & echo up; read line");
	fixture_expect("started ");
	while (strstr(buf_str(&confined.printed), "up") == NULL) {
		loop_turn(fixture.loop, 20);
		confined_read();
	}
	interpreter_count_children(fixture.interpreter, fixture_counted);
	assert_int_equal(fixture_answer(), 2);
	interpreter_signal_tree(fixture.interpreter, SIGKILL);
	confined_wait();
	assert_string_equal(fixture.said, "started exited gone ");
}

static void what_an_interpreter_left_dies_with_it(void **state)
{
	(void)state;
	/*
	 * Only a process that has left the session survives the terminal's end, so the shell waits
	 * for that.
	 */
	confined_start("mkfifo /mnt/data/up; "
		       "(setsid sh -c 'echo left >/mnt/data/up; exec sleep 1000' &); "
		       "cat /mnt/data/up");
	fixture_expect("started exited ");
	confined_read();
	assert_string_equal(buf_str(&confined.printed), "left\n");
	fixture_close_sandbox();
}

static struct sandbox_report report;

static void on_report(void *data, const struct sandbox_report *reported, const struct err *err)
{
	(void)data;
	assert_null(err);
	report = *reported;
}

static void the_report_says_that_proc_is_shared(void **state)
{
	(void)state;
	memset(&report, 0, sizeof(report));
	launcher_probe(fixture.launcher, on_report, NULL);
	while (report.layers == 0)
		loop_turn(fixture.loop, 100);
	assert_int_equal(report.tier, POLICY_NAMESPACES);
	assert_int_equal(report.layers & BIT(LAYER_PRIVATE_PROC), 0);
	assert_int_equal(report.escaped, 0);
}

#define CONFINED_TEST(f) cmocka_unit_test_setup_teardown(f, confined_set_up, confined_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFINED_TEST(a_session_works),
		CONFINED_TEST(the_tree_of_an_interpreter_is_counted_and_killed),
		CONFINED_TEST(what_an_interpreter_left_dies_with_it),
		CONFINED_TEST(the_report_says_that_proc_is_shared),
	};
	int skipped;

	if (!mask_proc()) {
		print_message("skipped: masking a part of /proc needs root\n");
		return CONFINED_SKIP;
	}
	skipped = confined_check();
	return skipped != 0 ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
