/* SPDX-License-Identifier: MIT */
/*
 * Visible and refused things in tier namespaces, seen from a shell inside. The numbers are those of
 * section 9 of the sandbox's specification. None of these tests needs seccomp or landlock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "confined_fixture.h"

/* ---- files ---- */

static void the_hosts_files_are_not_there_sandbox_1(void **state)
{
	(void)state;
	scratch_write(confined.scratch.fd, "secret", "secret");
	confined_expect(
		"for f in /etc/shadow /etc/machine-id /root/.ssh /sys /old /var/log /run/dbus; "
		"do [ -e $f ] && echo $f; done; ls -A /root /home /run /tmp | tr -d '\\n'",
		"/home:/root:/run:/tmp:");
	assert_null(strstr(confined_run("cat /tmp/*/secret 2>/dev/null; ls -A /mnt"), "secret"));
	assert_string_equal(confined.printed.data + strlen(confined.printed.data) - 5, "data\n");
}

static void only_the_sessions_own_folders_are_writable_sandbox_2_and_3(void **state)
{
	(void)state;
	confined_expect("for d in / /usr /usr/bin /etc /etc/ssl /dev /mnt /home /root /var /proc "
			"/proc/sys/kernel; do (: >$d/x) 2>/dev/null && echo $d; done; "
			"(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo core",
			"");
	confined_expect("for d in /mnt/data /tmp /var/tmp /dev/shm; do : >$d/x && echo $d; done",
			"/mnt/data\n/tmp\n/var/tmp\n/dev/shm\n");
	assert_int_equal(faccessat(confined.folders.data, "x", F_OK, 0), 0);
}

static void a_second_session_has_a_tmp_of_its_own_sandbox_3(void **state)
{
	(void)state;
	confined_expect("echo a >/tmp/a; echo a >/dev/shm/a; ls /tmp /dev/shm | tr -d '\\n'",
			"/dev/shm:a/tmp:a");
	fixture_close_sandbox();
	confined_expect("ls /tmp /dev/shm | tr -d '\\n'", "/dev/shm:/tmp:");
}

static void no_device_can_be_made_sandbox_4(void **state)
{
	(void)state;
	assert_non_null(strstr(confined_run("mknod /mnt/data/x b 8 0; mknod /tmp/x c 1 5; "
					    "ls /mnt/data /tmp/x; echo end"),
			       "end"));
	assert_int_equal(faccessat(confined.folders.data, "x", F_OK, 0), -1);
}

static void a_replaced_workspace_is_refused_sandbox_9(void **state)
{
	(void)state;
	scratch_check(renameat(confined.scratch.fd, "data", confined.scratch.fd, "away") == 0,
		      "rename");
	assert_int_equal(symlinkat("/etc", confined.scratch.fd, "data"), 0);
	confined_start("true");
	confined_wait();
	assert_string_equal(fixture.said, "failed ");
	assert_non_null(strstr(fixture.err.msg, confined.data));
}

static void another_folder_of_the_same_name_is_refused_sandbox_9(void **state)
{
	(void)state;
	assert_int_equal(renameat(confined.scratch.fd, "data", confined.scratch.fd, "other"), 0);
	assert_int_equal(mkdirat(confined.scratch.fd, "data", 0700), 0);
	confined_start("true");
	confined_wait();
	assert_string_equal(fixture.said, "failed ");
	assert_int_equal(fixture.err.code, ERR_DENIED);
}

static void nothing_can_be_remounted_sandbox_14(void **state)
{
	(void)state;
	confined_expect(
		"exec 2>/dev/null; mount -o remount,rw / && echo 1; umount /mnt/data && echo 2; "
		"mount --bind /usr /mnt/data && echo 3; mount -t tmpfs x /mnt/data && echo 4; "
		"unshare -m true && echo 5; unshare -Ur true && echo 6; unshare -n true && echo 7",
		"");
}

static void spool_and_packages_are_read_only(void **state)
{
	char spool[100];
	char packages[100];

	(void)state;
	(void)snprintf(spool, sizeof(spool), "%s/spool", confined.scratch.path);
	(void)snprintf(packages, sizeof(packages), "%s/packages", confined.scratch.path);
	assert_int_equal(mkdir(spool, 0755), 0);
	assert_int_equal(mkdir(packages, 0755), 0);
	confined.policy.spool_path = spool;
	confined.policy.packages_path = packages;
	confined.folders.spool = open(spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	confined.folders.packages = open(packages, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scratch_write(confined.folders.spool, "cell", "whole");
	assert_int_equal(fchmodat(confined.folders.spool, "cell", 0644, 0), 0);
	confined_expect("cat /mnt/spool/cell; for d in /mnt/spool /mnt/packages; do "
			"(: >$d/x) 2>/dev/null && echo $d; done",
			"whole");
	/* A file that is made later is visible too. */
	scratch_write(confined.folders.packages, "late", "late");
	assert_int_equal(fchmodat(confined.folders.packages, "late", 0644, 0), 0);
	confined_expect("cat /mnt/packages/late", "late");
	fd_close(&confined.folders.spool);
	fd_close(&confined.folders.packages);
}

static void tmp_is_as_large_as_the_policy_says_sandbox_58(void **state)
{
	(void)state;
	confined.policy.tmp_bytes_max = 1 << 20;
	confined.policy.tmp_files_max = 16;
	confined_expect("head -c 2000000 /dev/zero >/tmp/x 2>/dev/null; wc -c </tmp/x; "
			"i=0; while touch /dev/shm/$i 2>/dev/null; do i=$((i+1)); done; echo $i",
			"1048576\n15\n");
}

/* ---- processes ---- */

static void only_own_processes_are_seen_sandbox_15(void **state)
{
	(void)state;
	confined_expect("cat /proc/1/comm; set -- /proc/[0-9]*; echo $#", "ptycell-init\n3\n");
}

static void init_cannot_be_looked_into_sandbox_16(void **state)
{
	(void)state;
	confined_expect(
		"cd /proc/1; for f in environ mem maps; do cat $f 2>/dev/null | wc -c; done; "
		"for f in exe root cwd; do readlink $f; done; ls fd 2>/dev/null",
		"0\n0\n0\n");
	confined_expect(
		"cd /proc/$PPID; for f in environ mem maps; do cat $f 2>/dev/null | wc -c; done; "
		"for f in exe root cwd; do readlink $f; done; ls fd 2>/dev/null",
		"0\n0\n0\n");
}

static void init_cannot_be_killed_sandbox_17(void **state)
{
	(void)state;
	confined_expect("exec 2>/dev/null; kill -9 1; kill -STOP 1; kill -TERM 1; echo still here",
			"still here\n");
}

static void killing_everything_kills_the_session_only_sandbox_18(void **state)
{
	(void)state;
	confined_start("sleep 100 & read line; kill -9 -1; kill -9 $$");
	fixture_expect("started ");
	assert_int_equal(write(interpreter_pty(fixture.interpreter), "\n", 1), 1);
	confined_wait();
	assert_string_equal(fixture.said, "started exited gone ");
	confined_expect("echo the next one", "the next one\n");
}

static void only_its_terminal_and_channel_are_open_sandbox_20(void **state)
{
	(void)state;
	confined_expect(
		"cd /proc/self/fd; for n in $(seq 0 99); do [ -e $n ] && echo $n; done; "
		"readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2; readlink /proc/$$/fd/3 | "
		"tr -d '0-9'",
		"0\n1\n2\n3\n/dev/pts/0\n/dev/pts/0\n/dev/pts/0\nsocket:[]\n");
}

static void the_user_is_nobody_special_sandbox_22(void **state)
{
	(void)state;
	confined_expect("id -u; id -g; grep -E '^(Uid|Gid)' /proc/self/status; hostname; whoami",
			"1000\n1000\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n"
			"ptycell\nuser\n");
}

static void no_further_namespace_is_made_even_by_root_inside_sandbox_24(void **state)
{
	(void)state;
	/*
	 * A limit of the first user namespace holds even for a process with capabilities in the
	 * second.
	 */
	assert_null(
		strstr(confined_run("for n in m p n i u C U; do unshare -$n true 2>/dev/null && "
				    "echo made $n; done"),
		       "made"));
}

/* A daemon holds a pipe of the workspace open for reading; once it is dead there is no reader. */
static void what_a_closed_session_left_is_dead_sandbox_25(void **state)
{
	struct pollfd end = { .fd = -1 };
	char path[100];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/fifo", confined.data);
	confined_start(
		"mkfifo fifo; (setsid sh -c 'trap \"\" HUP TERM INT; exec sleep 1000 <fifo' &); "
		"sleep 1000");
	patience_turn_until(fixture.loop,
			    (end.fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) >= 0);
	fixture_close_sandbox();
	assert_int_equal(poll(&end, 1, 0), 1);
	assert_true((end.revents & POLLERR) != 0);
	fd_close(&end.fd);
}

static void a_fork_bomb_stops_at_the_limit_sandbox_57(void **state)
{
	(void)state;
	confined.policy.processes_max = 40;
	confined_start("i=0; while [ $i -lt 100 ]; do sleep 100 & i=$((i+1)); done");
	confined_wait();
	assert_non_null(strstr(buf_str(&confined.printed), "annot fork"));
}

/* ---- terminals ---- */

static void the_terminal_is_its_own_sandbox_32(void **state)
{
	(void)state;
	confined_expect("tty; stty size; ls /dev/pts | tr '\\n' ' '",
			"/dev/pts/0\n40 120\n0 ptmx ");
	confined_expect("script -qec tty /dev/null </dev/null | tr -d '\\r'", "/dev/pts/1\n");
}

static void two_interpreters_share_the_session(void **state)
{
	struct interpreter *first;

	(void)state;
	confined_start("echo x >/tmp/x; echo up; read line");
	fixture_expect("started ");
	while (strstr(buf_str(&confined.printed), "up") == NULL) {
		loop_turn(fixture.loop, 20);
		confined_read();
	}
	first = fixture.interpreter;
	confined_expect("cat /tmp/x; ps -o comm= -e | sort | uniq -c | grep super | tr -d ' '",
			"x\n2ptycell-super\n");
	interpreter_free(first);
}

/* ---- network ---- */

static void there_is_no_network_but_loopback_sandbox_44_to_48(void **state)
{
	cleanup_fd int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	char script[600];

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	(void)snprintf(script, sizeof(script),
		       "/usr/bin/python3 -c \"\nimport socket\n"
		       "for a in (('127.0.0.1', %d), ('1.1.1.1', 53), ('169.254.169.254', 80)):\n"
		       "  try: socket.create_connection(a, 2); print('connected')\n"
		       "  except OSError as e: print(e.errno)\n"
		       "s = socket.create_server(('127.0.0.1', 0))\n"
		       "socket.create_connection(s.getsockname()); print('own')\n\"",
		       ntohs(address.sin_port));
	confined_expect(script, "111\n101\n101\nown\n");
}

static int listener_fd = -1;

static void on_listener(void *data, int listener_own)
{
	(void)data;
	listener_fd = listener_own;
}

static void the_proxys_listener_comes_out(void **state)
{
	(void)state;
	confined.policy.proxy = true;
	confined_open();
	sandbox_watch_listener(fixture.sandbox, on_listener, NULL);
	confined_start(
		"/usr/bin/python3 -c \"\nimport socket\n"
		"s = socket.create_connection(('127.0.0.1', 3128)); print(s.recv(9).decode())\"");
	fixture_expect("started ");
	assert_true(listener_fd >= 0);
	{
		cleanup_fd int peer = accept4(listener_fd, NULL, NULL, SOCK_CLOEXEC);

		assert_int_equal(write(peer, "from out", 8), 8);
	}
	confined_wait();
	assert_string_equal(buf_str(&confined.printed), "from out\n");
	fd_close(&listener_fd);
}

#define CONFINED_TEST(f) cmocka_unit_test_setup_teardown(f, confined_set_up, confined_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFINED_TEST(the_hosts_files_are_not_there_sandbox_1),
		CONFINED_TEST(only_the_sessions_own_folders_are_writable_sandbox_2_and_3),
		CONFINED_TEST(a_second_session_has_a_tmp_of_its_own_sandbox_3),
		CONFINED_TEST(no_device_can_be_made_sandbox_4),
		CONFINED_TEST(a_replaced_workspace_is_refused_sandbox_9),
		CONFINED_TEST(another_folder_of_the_same_name_is_refused_sandbox_9),
		CONFINED_TEST(nothing_can_be_remounted_sandbox_14),
		CONFINED_TEST(spool_and_packages_are_read_only),
		CONFINED_TEST(tmp_is_as_large_as_the_policy_says_sandbox_58),
		CONFINED_TEST(only_own_processes_are_seen_sandbox_15),
		CONFINED_TEST(init_cannot_be_looked_into_sandbox_16),
		CONFINED_TEST(init_cannot_be_killed_sandbox_17),
		CONFINED_TEST(killing_everything_kills_the_session_only_sandbox_18),
		CONFINED_TEST(only_its_terminal_and_channel_are_open_sandbox_20),
		CONFINED_TEST(the_user_is_nobody_special_sandbox_22),
		CONFINED_TEST(no_further_namespace_is_made_even_by_root_inside_sandbox_24),
		CONFINED_TEST(what_a_closed_session_left_is_dead_sandbox_25),
		CONFINED_TEST(a_fork_bomb_stops_at_the_limit_sandbox_57),
		CONFINED_TEST(the_terminal_is_its_own_sandbox_32),
		CONFINED_TEST(two_interpreters_share_the_session),
		CONFINED_TEST(there_is_no_network_but_loopback_sandbox_44_to_48),
		CONFINED_TEST(the_proxys_listener_comes_out),
	};
	int skipped = confined_check();

	return skipped != 0 ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
