/* SPDX-License-Identifier: MIT */
/* Sessions whose namespaces bwrap makes. Numbers are those of the confinement tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <grp.h>
#include <signal.h>
#include <cmocka.h>

/* A copy that an ordinary user can read, wherever the build folder is. */
static char launcher_copy[] = "/tmp/ptycell-launcher-XXXXXX";
#define LAUNCHER launcher_copy

#include "confined_fixture.h"
#include "sandbox/supervise/bwrap.h"

enum { NOBODY = 65534 };

static int set_up(void **state)
{
	(void)confined_set_up(state);
	confined.policy.tier = POLICY_BWRAP;
	return 0;
}

static void the_tree_is_that_of_tier_namespaces_sandbox_1_to_3(void **state)
{
	(void)state;
	confined_expect(
		"pwd; echo text > file; cat file; ls / | grep -v lib; ls /mnt /home /root /run /var; id -u; "
		"grep -c : /etc/passwd; ls -a /dev | tr '\\n' ' '",
		"/mnt/data\ntext\nbin\ndev\netc\nhome\nmnt\nproc\nroot\nrun\n"
		"sbin\ntmp\nusr\nvar\n"
		"/home:\n\n/mnt:\ndata  user-data\n\n/root:\n\n/run:\n\n/var:\ntmp\n1000\n3\n"
		". .. core fd full null ptmx pts random shm stderr stdin stdout tty urandom "
		"zero ");
}

static void nothing_else_can_be_written_sandbox_2(void **state)
{
	(void)state;
	confined_expect("for d in / /usr /etc /dev /mnt /home /proc /var; do "
			"touch $d/x 2>/dev/null && echo $d; done; "
			"touch /tmp/x /dev/shm/x /var/tmp/y x && echo written; "
			"echo 0 2>/dev/null > /proc/self/oom_score_adj || echo kept; "
			"cat /proc/self/oom_score_adj",
			"written\nkept\n1000\n");
}

static void tmp_is_as_large_as_the_policy_says_sandbox_58(void **state)
{
	(void)state;
	confined.policy.tmp_bytes_max = 1 << 20;
	confined_expect(
		"for d in /tmp /dev/shm; do head -c 2000000 /dev/zero > $d/f 2>/dev/null || "
		"stat -c %s $d/f; done",
		"1048576\n1048576\n");
}

static void processes_are_its_own_sandbox_15_to_17(void **state)
{
	(void)state;
	confined_expect(
		"test $(ls /proc | grep -c '^[0-9]') -lt 9 && echo few; cat /proc/1/comm; kill -9 1 2>/dev/null || echo "
		"refused; for f in environ mem exe root cwd; do head -c1 /proc/1/$f >/dev/null "
		"2>&1 && echo $f; done; true",
		"few\nptycell-init\nrefused\n");
}

static void killing_everything_kills_the_session_only_sandbox_18(void **state)
{
	pid_t bystander = fork();

	(void)state;
	if (bystander == 0)
		for (;;)
			(void)pause();
	confined_start("kill -9 -1");
	confined_wait();
	assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0);
	(void)kill(bystander, SIGKILL);
	assert_int_equal(waitpid(bystander, NULL, 0), bystander);
}

static void no_process_has_rights_sandbox_22(void **state)
{
	(void)state;
	confined_expect("grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status | tr -d ' \\t'",
			"CapInh:0000000000000000\nCapPrm:0000000000000000\n"
			"CapEff:0000000000000000\nCapBnd:0000000000000000\n"
			"CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
}

static void the_terminal_is_its_own_sandbox_32(void **state)
{
	(void)state;
	confined_expect("tty; python3 -c 'import os; m, s = os.openpty(); print(os.ttyname(s))'",
			"/dev/pts/0\n/dev/pts/1\n");
}

static void there_is_no_network_but_loopback_sandbox_44_to_48(void **state)
{
	(void)state;
	confined_expect("python3 -c '\n"
			"import socket\n"
			"s = socket.create_server((\"127.0.0.1\", 0))\n"
			"print(bool(socket.create_connection(s.getsockname())))\n"
			"try: socket.create_connection((\"192.0.2.1\", 80), 5)\n"
			"except OSError as e: print(e.errno)'",
			"True\n101\n");
}

/* Daemons hold a pipe of the workspace open for reading; once they are dead there is no reader. */
static void what_a_closed_session_left_is_dead_sandbox_25(void **state)
{
	cleanup_fd int end = -1;
	char path[128];

	(void)state;
	confined_start(
		"mkfifo fifo; (setsid nohup sh -c 'trap \"\" TERM HUP; exec sleep 1000 <fifo' "
		">/dev/null 2>&1 &); sleep 1000");
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

static void shares_spool_and_packages_are_read_only_sandbox_13_77(void **state)
{
	char share[128];
	char script[512];

	(void)state;
	(void)snprintf(share, sizeof(share), "%s/share", confined.scratch.path);
	assert_int_equal(mkdir(share, 0755), 0);
	scratch_write(confined.scratch.fd, "share/file", "text\n");
	confined.policy.spool_path = share;
	confined.policy.packages_path = share;
	confined.policy.shares[0].path = share;
	confined.policy.share_count = 1;
	confined.folders.spool = open(share, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	confined.folders.packages = confined.folders.spool;
	confined.folders.shares[0] = confined.folders.spool;
	(void)snprintf(script, sizeof(script),
		       "for d in /mnt/spool /mnt/packages %s; do cat $d/file; echo x 2>/dev/null > "
		       "$d/file || echo refused; done",
		       share);
	confined_expect(script, "text\nrefused\ntext\nrefused\ntext\nrefused\n");
	fd_close(&confined.folders.spool);
}

static void a_replaced_folder_is_refused_sandbox_9(void **state)
{
	(void)state;
	confined_start("true");
	confined_wait();
	sandbox_close(fixture.sandbox, NULL, NULL);
	fixture.sandbox = NULL;
	fixture.said[0] = '\0';
	assert_int_equal(renameat(confined.scratch.fd, "data", confined.scratch.fd, "moved"), 0);
	assert_int_equal(symlinkat("/etc", confined.scratch.fd, "data"), 0);
	confined_start("true");
	confined_wait();
	assert_non_null(strstr(fixture.said, "failed"));
}

static void a_writable_share_is_refused(void **state)
{
	(void)state;
	confined.policy.shares[0] = (struct policy_share){ "/usr/share", true };
	confined.policy.share_count = 1;
	confined.folders.shares[0] = open("/usr/share", O_PATH | O_CLOEXEC);
	confined_start("true");
	confined_wait();
	assert_non_null(strstr(fixture.err.msg, "without :rw"));
	fd_close(&confined.folders.shares[0]);
}

/* Root has no use for this tier, so the tests become an ordinary user. */
static int become_ordinary(void)
{
	if (geteuid() != 0)
		return 0;
	return setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) < 0
		       ? -1
		       : 0;
}

static void copy_launcher(void)
{
	int status = -1;
	int fd = mkostemp(launcher_copy, O_CLOEXEC);
	pid_t pid = fork();

	if (pid == 0) {
		(void)execlp("install", "install", "-m", "755", TEST_BUILD "/ptycell-launcher",
			     launcher_copy, (char *)NULL);
		_exit(1);
	}
	scratch_check(fd >= 0 && waitpid(pid, &status, 0) == pid && status == 0,
		      "copying the launcher");
	(void)close(fd);
	/* The user who removes it at the end. */
	(void)!chown(launcher_copy, geteuid() == 0 ? NOBODY : geteuid(), (gid_t)-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, confined_tear_down)
		TEST(the_tree_is_that_of_tier_namespaces_sandbox_1_to_3),
		TEST(nothing_else_can_be_written_sandbox_2),
		TEST(tmp_is_as_large_as_the_policy_says_sandbox_58),
		TEST(processes_are_its_own_sandbox_15_to_17),
		TEST(killing_everything_kills_the_session_only_sandbox_18),
		TEST(no_process_has_rights_sandbox_22),
		TEST(the_terminal_is_its_own_sandbox_32),
		TEST(there_is_no_network_but_loopback_sandbox_44_to_48),
		TEST(what_a_closed_session_left_is_dead_sandbox_25),
		TEST(shares_spool_and_packages_are_read_only_sandbox_13_77),
		TEST(a_replaced_folder_is_refused_sandbox_9),
		TEST(a_writable_share_is_refused),
	};
	struct err err;
	int failed;

	copy_launcher();
	scratch_check(become_ordinary() == 0, "becoming an ordinary user");
	(void)sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	if (bwrap_check(&err) < 0) {
		print_message("skipped: %s\n", err.msg);
		failed = CONFINED_SKIP;
	} else {
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	}
	(void)unlink(launcher_copy);
	return failed;
}
