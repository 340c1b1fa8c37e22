/* SPDX-License-Identifier: MIT */
/*
 * zygote_namespaces.c - makes the namespaces of a session inside those of a zygote sandbox.
 *
 * Two helper processes are needed. A process can make a pid namespace only below the one it is in,
 * and setns() moves only the children of its caller. So the first helper joins the zygote's
 * namespaces, and the second is born inside and clones the session's init. The second helper and
 * init are made with CLONE_PARENT, so they are children of the launcher: init must die with it.
 * Pids inside differ from those outside, so the launcher learns init's pid from the credentials of
 * its first message.
 */
#include "sandbox/namespaces/zygote_namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/namespaces/cgroup.h"

int zygote_namespaces_open(int inner, int ret_fds[ZYGOTE_NAMESPACES_NAMESPACES], struct err *err)
{
	cleanup_fd int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	cleanup_fd int pid = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	cleanup_fd int last = inner >= 0 ? fd_dup(inner, err) : fd_dup(user, err);

	if (user < 0 || pid < 0 || last < 0)
		return err_sys(err, "opening the namespaces of forked interpreters");
	ret_fds[ZYGOTE_NAMESPACES_INNER] = fd_steal(&last);
	ret_fds[ZYGOTE_NAMESPACES_USER] = fd_steal(&user);
	ret_fds[ZYGOTE_NAMESPACES_PID] = fd_steal(&pid);
	return 0;
}

/*
 * Becomes a user who may make namespaces inside. The file system user stays the server's, who can
 * open the sources of the session's mounts.
 */
static int enter_zygote_namespaces(const int *fds, const struct uid_map *map, struct err *err)
{
	if (setns(fds[ZYGOTE_NAMESPACES_USER], CLONE_NEWUSER) < 0)
		return err_sys(err, "joining the namespace of forked interpreters");
	if (map->other_user) {
		if (setresuid((uid_t)-1, 0, (uid_t)-1) < 0)
			return err_sys(err, "becoming the user of forked interpreters");
		(void)setfsuid(UID_MAP_ZYGOTE_ROOT);
		/* The map of a process that is not dumpable belongs to root. */
		(void)prctl(PR_SET_DUMPABLE, 1UL);
	}
	if (setns(fds[ZYGOTE_NAMESPACES_PID], CLONE_NEWPID) < 0)
		return err_sys(err, "joining the processes of forked interpreters");
	if (!map->other_user && setns(fds[ZYGOTE_NAMESPACES_INNER], CLONE_NEWUSER) < 0)
		return err_sys(err, "joining the user of forked interpreters");
	return 0;
}

/* ---- the helpers ---- */

/* Data of the two helpers. */
struct helper {
	/*
	 * Packet sockets to the launcher, which holds the only other end, so it sees a helper's
	 * death.
	 */
	int report;      /* of the second helper, and then of init */
	int map_request; /* of the first helper: receives a pid whose map it writes, and sends the
			    result */
	const int *fds;
	unsigned long flags;
	const struct uid_map *map;
};

static void send_err(int channel, const struct err *err)
{
	(void)!write(channel, err, sizeof(*err));
}

/* Returns 0 in init; exits in the helper. */
static pid_t run_second_helper(const struct helper *helper)
{
	struct clone_args args = { .flags = helper->flags | CLONE_PARENT };
	struct err err = { .code = ERR_NONE };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0 && errno == ENOSYS)
		pid = (pid_t)syscall(SYS_clone, helper->flags | CLONE_PARENT | SIGCHLD, NULL, NULL,
				     NULL, 0);
	if (pid < 0)
		(void)err_sys(&err, "creating namespaces");
	if (pid <= 0)
		send_err(helper->report, &err);
	if (pid == 0)
		return 0;
	_exit(EXIT_SUCCESS);
}

static int write_requested_map(const struct helper *helper, struct err *err)
{
	pid_t pid;

	(void)setfsuid(0);
	if (read(helper->map_request, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		_exit(EXIT_FAILURE);
	return uid_map_write_for(pid, helper->map, err);
}

/* fork fails with ENOMEM in a pid namespace whose first process has ended. */
static pid_t fork_second_helper(const struct helper *helper, struct err *err)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid == 0)
		(void)close(helper->map_request);
	else if (pid < 0 && errno == ENOMEM)
		(void)err_set(err, ERR_SYSTEM,
			      "what sessions are forked from has ended, or memory ran out");
	else if (pid < 0)
		(void)err_sys(err, "forking for a sandbox");
	return pid;
}

/* Returns 0 in init; exits in the helpers. */
static pid_t run_first_helper(const struct helper *helper)
{
	struct err err = { .code = ERR_NONE };
	pid_t second = -1;

	if (enter_zygote_namespaces(helper->fds, helper->map, &err) == 0)
		second = fork_second_helper(helper, &err);
	if (second == 0)
		return run_second_helper(helper);
	if (second < 0)
		send_err(helper->report, &err);
	(void)close(helper->report);
	if (second > 0 && helper->map->other_user) {
		(void)write_requested_map(helper, &err);
		send_err(helper->map_request, &err);
	}
	_exit(EXIT_SUCCESS);
}

/* ---- the launcher ---- */

/* Receives the result of a process, and its pid; ERR_NONE is success. */
static int receive_err(int channel, pid_t *ret_pid, struct err *err)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr header;
	} control;
	struct err reply;
	struct ucred sender;
	struct iovec part = { &reply, sizeof(reply) };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *first;

	if (recvmsg(channel, &packet, 0) != (ssize_t)sizeof(reply))
		return err_set(err, ERR_SYSTEM, "the process that makes namespaces died");
	first = CMSG_FIRSTHDR(&packet);
	if (first == NULL || first->cmsg_type != SCM_CREDENTIALS)
		return err_set(err, ERR_INTERNAL, "a process without a number");
	memcpy(&sender, CMSG_DATA(first), sizeof(sender));
	*ret_pid = sender.pid;
	if (reply.code == ERR_NONE)
		return 0;
	*err = reply;
	return -1;
}

static int follow_helpers(int channel, int map_request, const struct uid_map *map, pid_t *ret_pid,
			  struct err *err)
{
	pid_t first_pid;

	if (receive_err(channel, ret_pid, err) < 0)
		return -1;
	if (!map->other_user)
		return 0;
	if (write(map_request, ret_pid, sizeof(*ret_pid)) != (ssize_t)sizeof(*ret_pid))
		return err_sys(err, "starting a sandbox");
	return receive_err(map_request, &first_pid, err);
}

/* The kernel adds the sender's credentials to what arrives at the first socket. */
static int open_channel(int ret_pair[2], struct err *err)
{
	const int on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_pair) < 0)
		return err_sys(err, "preparing a sandbox");
	if (setsockopt(ret_pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0)
		return 0;
	(void)err_sys(err, "preparing a sandbox");
	fd_close(&ret_pair[0]);
	fd_close(&ret_pair[1]);
	return -1;
}

static int open_channels(int ret_report[2], int ret_order[2], struct err *err)
{
	if (open_channel(ret_report, err) < 0)
		return -1;
	if (open_channel(ret_order, err) == 0)
		return 0;
	fd_close(&ret_report[0]);
	fd_close(&ret_report[1]);
	return -1;
}

pid_t zygote_namespaces_clone(const int fds[ZYGOTE_NAMESPACES_NAMESPACES], unsigned long flags,
			      const struct uid_map *map, int group, struct err *err)
{
	int report[2];
	int map_request[2];
	pid_t pid = -1;
	pid_t first;
	int rc;

	if (open_channels(report, map_request, err) < 0)
		return -1;
	/* The helpers are in the group too, because init is born in its parent's group. */
	first = cgroup_fork(0, group);
	if (first == 0) {
		fd_close(&report[0]);
		fd_close(&map_request[0]);
		return run_first_helper(
			&(struct helper){ report[1], map_request[1], fds, flags, map });
	}
	fd_close(&report[1]);
	fd_close(&map_request[1]);
	/*
	 * On failure init is not released, if there is one; it exits and is reaped as any other
	 * child.
	 */
	rc = first < 0 ? err_sys(err, "forking for a sandbox")
		       : follow_helpers(report[0], map_request[0], map, &pid, err);
	fd_close(&report[0]);
	fd_close(&map_request[0]);
	if (first > 0)
		(void)waitpid(first, NULL, 0);
	return rc < 0 ? -1 : pid;
}
