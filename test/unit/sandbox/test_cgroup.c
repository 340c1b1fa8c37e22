/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/namespaces/cgroup.h"

/* Texts from real machines. */
#define HYBRID "9:name=systemd:/\n8:pids:/\n4:memory:/process_api/3455\n3:cpuset:/\n1:cpu:/\n0::/\n"
#define USER_SCOPE "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r7f3.scope\n"
#define VERSION_1 "12:pids:/docker/4f\n11:memory:/docker/4f\n1:name=systemd:/docker/4f\n"

#define MOUNTS_BEFORE                                                                              \
	"24 30 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"            \
	"30 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
#define MOUNT_WHOLE                                                                                \
	"35 24 0:29 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "  \
	"rw,nsdelegate,memory_recursiveprot\n"
#define MOUNT_HYBRID                                                                               \
	"70 60 0:31 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"                      \
	"71 70 0:32 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"                     \
	"80 70 0:41 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
#define MOUNT_PART                                                                                 \
	"99 90 0:29 /docker/4f /mnt/with\\040blank ro,nosuid - cgroup2 cgroup rw,nsdelegate\n"

static void assert_own(const char *text, const char *expected)
{
	cleanup_free char *path = cgroup_parse_own(text);

	if (expected == NULL)
		assert_null(path);
	else
		assert_string_equal(path, expected);
}

static void the_own_group_is_the_line_of_version_2(void **state)
{
	(void)state;
	assert_own(HYBRID, "/");
	assert_own(USER_SCOPE,
		   "/user.slice/user-1000.slice/user@1000.service/app.slice/run-r7f3.scope");
	assert_own("0::/a", "/a"); /* without an end of line */
}

static void a_group_that_cannot_be_named_is_none(void **state)
{
	(void)state;
	assert_own(VERSION_1, NULL);
	assert_own("", NULL);
	assert_own("0::\n", NULL);
	assert_own("0::/gone.scope (deleted)\n", NULL);
	assert_own("0::/../elsewhere\n", NULL); /* outside of the namespace */
	assert_own("10::/no\n", NULL);
}

static void assert_folder(const char *mounts, const char *own, const char *expected)
{
	cleanup_free char *folder = cgroup_parse_mounts(mounts, own);

	if (expected == NULL)
		assert_null(folder);
	else
		assert_string_equal(folder, expected);
}

static void its_folder_is_found_below_the_mount(void **state)
{
	(void)state;
	assert_folder(MOUNTS_BEFORE MOUNT_WHOLE, "/user.slice/x.scope",
		      "/sys/fs/cgroup/user.slice/x.scope");
	assert_folder(MOUNTS_BEFORE MOUNT_HYBRID, "/", "/sys/fs/cgroup/unified");
	assert_folder(MOUNTS_BEFORE MOUNT_HYBRID, "/a", "/sys/fs/cgroup/unified/a");
}

static void a_mount_of_a_part_shows_only_what_is_below(void **state)
{
	(void)state;
	assert_folder(MOUNT_PART, "/docker/4f", "/mnt/with blank");
	assert_folder(MOUNT_PART, "/docker/4f/leaf", "/mnt/with blank/leaf");
	assert_folder(MOUNT_PART, "/docker/4f5", NULL);
	assert_folder(MOUNT_PART, "/", NULL);
	assert_folder(MOUNT_PART MOUNT_WHOLE, "/elsewhere", "/sys/fs/cgroup/elsewhere");
	assert_folder(MOUNTS_BEFORE, "/", NULL);
	assert_folder("", "/", NULL);
	assert_folder("x - cgroup2 y\n", "/", NULL);
}

static void controllers_are_those_that_we_use(void **state)
{
	(void)state;
	assert_int_equal(cgroup_parse_controllers("cpuset cpu io memory hugetlb pids rdma misc\n"),
			 BIT(CGROUP_MEMORY) | BIT(CGROUP_PIDS) | BIT(CGROUP_CPU));
	assert_int_equal(cgroup_parse_controllers("hugetlb\n"), 0);
	assert_int_equal(cgroup_parse_controllers("\n"), 0);
	assert_int_equal(cgroup_parse_controllers(""), 0);
	assert_int_equal(cgroup_parse_controllers("pids"), BIT(CGROUP_PIDS));
}

static void events_are_counted_by_their_whole_name(void **state)
{
	static const char events[] = "low 0\nhigh 0\nmax 2917\noom 3\noom_kill 2\n"
				     "oom_group_kill 1\n";

	(void)state;
	assert_int_equal(cgroup_parse_event(events, "oom_kill"), 2);
	assert_int_equal(cgroup_parse_event(events, "oom"), 3);
	assert_int_equal(cgroup_parse_event(events, "kill"), 0);
	assert_int_equal(cgroup_parse_event("populated 1\nfrozen 0\n", "populated"), 1);
	assert_int_equal(cgroup_parse_event("", "populated"), 0);
}

static void a_fork_without_a_group_stays_in_its_own(void **state)
{
	int status;
	pid_t pid = cgroup_fork(0, -1);

	(void)state;
	if (pid == 0)
		_exit(getppid() > 0 ? 7 : 1);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void what_is_no_group_is_refused(void **state)
{
	pid_t pid = cgroup_fork(0, STDIN_FILENO);

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(pid, -1);
}

static void what_is_no_group_has_no_members(void **state)
{
	cleanup_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(cgroup_open_members(STDIN_FILENO), -1);
	assert_int_equal(cgroup_open_members(-1), -1);
	assert_int_equal(cgroup_move(-1, 1), -1);
	assert_int_equal(cgroup_move(null, 1), 0); /* one whole line, at once */
}

/* ---- with a group, where one can be made ---- */

static char *find_own_folder(void)
{
	struct err err;
	size_t len;
	cleanup_free char *groups =
		fd_read_file(AT_FDCWD, "/proc/self/cgroup", 1 << 20, &len, &err);
	cleanup_free char *mounts =
		fd_read_file(AT_FDCWD, "/proc/self/mountinfo", 1 << 20, &len, &err);
	cleanup_free char *own = groups != NULL ? cgroup_parse_own(groups) : NULL;

	return own != NULL && mounts != NULL ? cgroup_parse_mounts(mounts, own) : NULL;
}

static bool is_member(int group, pid_t pid)
{
	cleanup_free char *line = xasprintf("\n%d\n", (int)pid);
	cleanup_free char *text = NULL;
	cleanup_free char *lines = NULL;
	struct err err;
	size_t len;

	text = fd_read_file(group, "cgroup.procs", 1 << 20, &len, &err);
	lines = xasprintf("\n%s", text != NULL ? text : "");
	return strstr(lines, line) != NULL;
}

static int end_child(pid_t pid)
{
	int status = -1;

	(void)kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Does what a session's init does with a process that a zygote forked for it. */
static int move_as_nobody(int group, int members, pid_t whom)
{
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 1;
	if (cgroup_open_members(group) >= 0)
		return 2;
	return cgroup_move(members, whom) == 0 && is_member(group, whom) ? 7 : 3;
}

static void who_opened_the_list_decides_who_may_be_moved(void **state)
{
	cleanup_free char *own = find_own_folder();
	cleanup_free char *path =
		xasprintf("%s/ptycell-test-%d", own != NULL ? own : "", (int)getpid());
	cleanup_fd int group = -1;
	cleanup_fd int members = -1;
	int status = 0;
	pid_t whom;
	pid_t pid;

	(void)state;
	if (own == NULL || geteuid() != 0 || mkdir(path, 0755) < 0)
		skip();
	group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	members = cgroup_open_members(group);
	assert_true(members >= 0);
	whom = fork();
	if (whom == 0)
		for (;;)
			(void)pause();
	pid = fork();
	if (pid == 0)
		_exit(move_as_nobody(group, members, whom));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(is_member(group, whom));
	assert_true(WIFSIGNALED(end_child(whom)));
	assert_int_equal(cgroup_move(members, whom), -1); /* no process has this number now */
	assert_int_equal(errno, ESRCH);
	while (rmdir(path) < 0 && errno == EBUSY)
		;
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_own_group_is_the_line_of_version_2),
		cmocka_unit_test(a_group_that_cannot_be_named_is_none),
		cmocka_unit_test(its_folder_is_found_below_the_mount),
		cmocka_unit_test(a_mount_of_a_part_shows_only_what_is_below),
		cmocka_unit_test(controllers_are_those_that_we_use),
		cmocka_unit_test(events_are_counted_by_their_whole_name),
		cmocka_unit_test(a_fork_without_a_group_stays_in_its_own),
		cmocka_unit_test(what_is_no_group_is_refused),
		cmocka_unit_test(what_is_no_group_has_no_members),
		cmocka_unit_test(who_opened_the_list_decides_who_may_be_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
