/* SPDX-License-Identifier: MIT */
/* Sessions without namespaces. Numbers are those of the confinement tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <cmocka.h>

#include "confined_fixture.h"
#include "sandbox/restrict/landlock.h"

static int set_up(void **state)
{
	(void)confined_set_up(state);
	confined.policy.tier = POLICY_LANDLOCK;
	/* The session of a root server has a user of its own, who must reach the folder. */
	assert_int_equal(fchmod(confined.scratch.fd, 0711), 0);
	return 0;
}

static void a_session_works_in_its_folder(void **state)
{
	(void)state;
	confined_expect("echo text > file && cat file && mkdir d && mv file d && ls d && pwd | "
			"grep -c data",
			"text\nfile\n1\n");
}

/* Each landlock domain must allow it, also the one that only holds signals in. */
static void a_file_moves_between_folders(void **state)
{
	(void)state;
	confined_expect("python3 -c '\n"
			"import os\n"
			"os.mkdir(\"d\")\n"
			"open(\"file\", \"w\").close()\n"
			"os.link(\"file\", \"d/link\")\n"
			"os.rename(\"file\", \"d/file\")\n"
			"print(os.stat(\"d/file\").st_nlink)'",
			"2\n");
}

static void the_hosts_files_are_closed_sandbox_1_2(void **state)
{
	(void)state;
	confined_expect(
		"for f in /etc/shadow /root/x $HOME/.ssh/id; do cat $f 2>&1 | grep -c ''; done;"
		"for d in / /home /tmp /var /dev/shm; do ls $d >/dev/null 2>&1 && echo $d; "
		"echo x 2>/dev/null > $d/ptycell-x && echo wrote $d; done; echo end",
		"1\n1\n1\nend\n");
}

static void there_are_no_sockets_sandbox_44_to_47(void **state)
{
	(void)state;
	confined_expect(
		"python3 -c '\n"
		"import socket\n"
		"for f in socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK:\n"
		"  try: socket.socket(f); print(f)\n"
		"  except PermissionError: print(\"closed\")\n"
		"print(len(socket.socketpair()))'",
		"closed\nclosed\nclosed\nclosed\n2\n");
}

static void the_server_is_out_of_reach_sandbox_19(void **state)
{
	char script[512];

	(void)state;
	(void)snprintf(
		script, sizeof(script),
		"p=%d; kill -0 $p 2>/dev/null && echo signalled; kill -STOP $p 2>/dev/null;"
		"for f in environ maps mem; do head -c1 /proc/$p/$f >/dev/null 2>&1 && echo $f; "
		"done; ls /proc/$p/fd /proc/$p/cwd/ >/dev/null 2>&1 && echo looked; echo end",
		(int)getpid());
	confined_expect(script, "end\n");
}

/*
 * Kills the session's processes, supervisor and init included, but no others: this test survives.
 */
static void killing_everything_kills_the_session_only_sandbox_18(void **state)
{
	pid_t bystander = fork();

	(void)state;
	if (bystander == 0)
		for (;;)
			(void)pause();
	confined_start("kill -9 -1; kill -9 $PPID; kill -9 $$");
	confined_wait();
	assert_int_equal(kill(bystander, 0), 0);
	assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0);
	(void)kill(bystander, SIGKILL);
	assert_int_equal(waitpid(bystander, NULL, 0), bystander);
}

/* Daemons hold a pipe of the workspace open for reading; once they are dead there is no reader. */
static void what_a_closed_session_left_is_dead_sandbox_25(void **state)
{
	cleanup_fd int end = -1;
	char path[128];

	(void)state;
	confined_start(
		"mkfifo fifo; for i in 1 2 3; do (setsid sh -c 'trap \"\" TERM HUP; exec sleep "
		"1000 <fifo' &) & done; (setsid nohup sleep 1000 <fifo >/dev/null 2>&1 &); "
		"echo ready; sleep 1000");
	(void)snprintf(path, sizeof(path), "%s/fifo", confined.data);
	patience_turn_until(fixture.loop,
			    (end = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) >= 0);
	interpreter_free(fixture.interpreter);
	fixture.interpreter = NULL;
	sandbox_close(fixture.sandbox, NULL, NULL);
	fixture.sandbox = NULL;
	patience_turn_until(fixture.loop, write(end, "x", 1) < 0);
	assert_int_equal(errno, EPIPE);
}

static void no_process_has_rights_sandbox_22_and_61(void **state)
{
	(void)state;
	confined_expect(
		"grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp:' /proc/self/status | tr -d "
		"' \\t'; test $(id -u) != 0 && echo user; cat /proc/self/oom_score_adj; echo 0 "
		"2>/dev/null > /proc/self/oom_score_adj || echo kept",
		"CapInh:0000000000000000\nCapPrm:0000000000000000\n"
		"CapEff:0000000000000000\nCapAmb:0000000000000000\nNoNewPrivs:1\n"
		"Seccomp:2\nuser\n1000\nkept\n");
}

static void a_writable_share_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdirat(confined.scratch.fd, "share", 0755), 0);
	confined.policy.shares[0].path = "/usr/share";
	confined.policy.shares[0].writable = true;
	confined.policy.share_count = 1;
	confined.folders.shares[0] = open("/usr/share", O_PATH | O_CLOEXEC);
	confined_start("true");
	confined_wait();
	assert_non_null(strstr(fixture.err.msg, "without :rw"));
	fd_close(&confined.folders.shares[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_session_works_in_its_folder, set_up,
						confined_tear_down),
		cmocka_unit_test_setup_teardown(a_file_moves_between_folders, set_up,
						confined_tear_down),
		cmocka_unit_test_setup_teardown(the_hosts_files_are_closed_sandbox_1_2, set_up,
						confined_tear_down),
		cmocka_unit_test_setup_teardown(there_are_no_sockets_sandbox_44_to_47, set_up,
						confined_tear_down),
		cmocka_unit_test_setup_teardown(the_server_is_out_of_reach_sandbox_19, set_up,
						confined_tear_down),
		cmocka_unit_test_setup_teardown(
			killing_everything_kills_the_session_only_sandbox_18, set_up,
			confined_tear_down),
		cmocka_unit_test_setup_teardown(what_a_closed_session_left_is_dead_sandbox_25,
						set_up, confined_tear_down),
		cmocka_unit_test_setup_teardown(no_process_has_rights_sandbox_22_and_61, set_up,
						confined_tear_down),
		cmocka_unit_test_setup_teardown(a_writable_share_is_refused, set_up,
						confined_tear_down),
	};

	if (landlock_abi(LANDLOCK_ABI_MAX) < LANDLOCK_ABI_SIGNALS && geteuid() != 0) {
		print_message("skipped: this kernel's landlock does not hold signals in\n");
		return CONFINED_SKIP;
	}
	(void)sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
