/* SPDX-License-Identifier: MIT */
/*
 * namespaces.c - forks a process into new namespaces, and sets limits of the kernel in them.
 *
 * The child waits for a byte until its user map is written. A map of another user can be written
 * only by the process that made the namespace. The result of getppid() is 0 for a parent outside
 * the pid namespace, so the child checks by a pidfd that the launcher still lives. The second user
 * namespace is made by a child that shares memory and descriptors: only its namespace is kept.
 */
#include "sandbox/namespaces/namespaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/namespaces/cgroup.h"
#include "sandbox/namespaces/zygote_namespaces.h"
#include "sandbox/policy.h"
#include "sandbox/report.h"

enum {
	NAMESPACE_FLAGS = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
			  CLONE_NEWUTS | CLONE_NEWCGROUP,
	PROXY_BACKLOG = 64,
	CHILD_STACK = 32 * 1024,
	SHARED_PAGES_MAX = 4096,    /* for System V, which no other limit counts */
	INOTIFY_INSTANCES_MAX = 32, /* a quarter of what Linux gives a user by default */
	INOTIFY_WATCHES_MAX = 16384,
};

/* Minimum, default and maximum size of a connection's buffers. */
#define TCP_RECEIVE_BYTES "4096 65536 262144"
#define TCP_SEND_BYTES "4096 16384 262144"

/* ---- the fork ---- */

static unsigned long choose_flags(uint32_t without)
{
	static const struct {
		enum report_layer layer;
		unsigned long flag;
	} optional[] = {
		{ LAYER_NET_NAMESPACE, CLONE_NEWNET },
		{ LAYER_IPC_NAMESPACE, CLONE_NEWIPC },
		{ LAYER_CGROUP_NAMESPACE, CLONE_NEWCGROUP },
	};
	unsigned long flags = NAMESPACE_FLAGS;

	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		if ((without & BIT(optional[i].layer)) != 0)
			flags &= ~optional[i].flag;
	return flags;
}

/*
 * `parent` is a pidfd, because getppid() returns 0 across a pid namespace; -1 where pidfds do not
 * exist. Init then notices the launcher's end by its channel only.
 */
static void begin_child(int parent, int go)
{
	struct pollfd ended = { .fd = parent, .events = POLLIN };
	char byte;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || (parent >= 0 && poll(&ended, 1, 0) != 0))
		_exit(EXIT_FAILURE);
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
}

/* The child continues only after its map has been written. */
static int release_child(pid_t pid, int go, const struct uid_map *map, bool written,
			 struct err *err)
{
	if (map->other_user && !written && uid_map_write_for(pid, map, err) < 0)
		return -1;
	return write(go, "g", 1) == 1 ? 0 : err_sys(err, "starting a sandbox");
}

pid_t namespaces_fork(const struct uid_map *map, int group, uint32_t without, const int *zygote_fds,
		      struct err *err)
{
	cleanup_fd int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	cleanup_fd int read_end = -1;
	cleanup_fd int write_end = -1;
	int pair[2];
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(err, "preparing a sandbox");
	read_end = pair[0];
	write_end = pair[1];
	if (zygote_fds != NULL) {
		pid = zygote_namespaces_clone(zygote_fds, choose_flags(without), map, group, err);
		if (pid < 0)
			return -1;
	} else {
		pid = cgroup_fork(choose_flags(without), group);
	}
	if (pid < 0 && errno == ENOSPC)
		return err_set(err, ERR_UNSUPPORTED,
			       "creating namespaces: this system allows none "
			       "(user.max_user_namespaces)");
	if (pid < 0)
		return err_sys(err, "creating namespaces");
	if (pid == 0) {
		fd_close(&write_end);
		begin_child(self, read_end);
		return 0;
	}
	if (release_child(pid, write_end, map, zygote_fds != NULL, err) < 0) {
		fd_close(&write_end);
		(void)waitpid(pid, NULL, 0);
		return -1;
	}
	return pid;
}

static const struct {
	const char *path;
	int kind;
} own_namespaces[NAMESPACES_ALL] = {
	{ "/proc/self/ns/user", CLONE_NEWUSER }, { "/proc/self/ns/mnt", CLONE_NEWNS },
	{ "/proc/self/ns/net", CLONE_NEWNET },   { "/proc/self/ns/ipc", CLONE_NEWIPC },
	{ "/proc/self/ns/uts", CLONE_NEWUTS },   { "/proc/self/ns/cgroup", CLONE_NEWCGROUP },
	{ "/proc/self/ns/pid", CLONE_NEWPID },
};

int namespaces_open_own(int *ret_fds, struct err *err)
{
	for (size_t i = 0; i < NAMESPACES_ALL; i++) {
		ret_fds[i] = open(own_namespaces[i].path, O_RDONLY | O_CLOEXEC);
		if (ret_fds[i] >= 0)
			continue;
		(void)err_sys(err, "opening '%s'", own_namespaces[i].path);
		while (i-- > 0)
			fd_close(&ret_fds[i]);
		return -1;
	}
	return 0;
}

int namespaces_join(const int *fds, struct err *err)
{
	for (size_t i = 0; i < NAMESPACES_ALL; i++)
		if (setns(fds[i], own_namespaces[i].kind) < 0)
			return err_sys(err, "joining the namespace '%s'", own_namespaces[i].path);
	return 0;
}

int namespaces_bind_life(bool dumpable, struct err *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0) < 0)
		return err_sys(err, "tying a sandbox to the launcher");
	return 0;
}

static int write_sysctl(const char *path, const char *text)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

static int write_sysctl_number(const char *path, unsigned int number)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", number);
	return write_sysctl(path, text);
}

/* ---- inside the namespaces ---- */

static int raise_loopback(struct err *err)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return err_sys(err, "starting the loopback interface");
	return 0;
}

/*
 * Limits TCP buffers, which count against the whole machine (tcp_mem): once that is full, the
 * connections of every user are dropped. In a container these files may be read-only.
 */
static void bound_tcp_buffers(void)
{
	(void)write_sysctl("/proc/sys/net/ipv4/tcp_rmem", TCP_RECEIVE_BYTES);
	(void)write_sysctl("/proc/sys/net/ipv4/tcp_wmem", TCP_SEND_BYTES);
}

int namespaces_start(uint32_t without, struct err *err)
{
	static const char name[] = "ptycell";

	if (sethostname(name, sizeof(name) - 1) < 0)
		return err_sys(err, "setting the host name");
	if ((without & BIT(LAYER_NET_NAMESPACE)) != 0)
		return 0;
	bound_tcp_buffers();
	return raise_loopback(err);
}

int namespaces_listen(struct err *err)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(POLICY_PROXY_PORT),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, PROXY_BACKLOG) < 0)
		return err_sys(err, "listening for the proxy");
	return fd_steal(&fd);
}

/* ---- limits ---- */

/*
 * Sets limits of the first user namespace, which no process in a namespace below can raise. In a
 * container with a shared /proc these files may be read-only; the seccomp filter then stands alone.
 */
static int bound_kernel_objects(struct err *err)
{
	static const char *const kinds[] = { "mnt", "pid", "net", "ipc", "uts", "cgroup", "time" };
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		(void)snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", kinds[i]);
		if (write_sysctl_number(path, 0) < 0 && errno != ENOENT && errno != EROFS)
			return err_sys(err, "forbidding further %s namespaces", kinds[i]);
	}
	if (write_sysctl_number("/proc/sys/user/max_user_namespaces", 1) < 0 && errno != EROFS)
		return err_sys(err, "forbidding further user namespaces");
	/* May fail; the seccomp filter refuses such segments anyway. */
	(void)write_sysctl_number("/proc/sys/kernel/shmall", SHARED_PAGES_MAX);
	/*
	 * The kernel charges a session's watches to its user as well, so the user's own programs
	 * need the rest.
	 */
	(void)write_sysctl_number("/proc/sys/user/max_inotify_instances", INOTIFY_INSTANCES_MAX);
	(void)write_sysctl_number("/proc/sys/user/max_inotify_watches", INOTIFY_WATCHES_MAX);
	return 0;
}

/* ---- the second user namespace ---- */

struct inner {
	int user_ns;
	struct err err;
};

/*
 * Runs in a child that shares memory and descriptors with init. Only its new namespace is wanted,
 * and the descriptor keeps that alive.
 */
static int open_inner(void *data)
{
	struct inner *inner = data;

	if (uid_map_write_own(UID_MAP_INSIDE, &(struct uid_map){ 0 }, &inner->err) < 0)
		return EXIT_FAILURE;
	inner->user_ns = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (inner->user_ns < 0)
		(void)err_sys(&inner->err, "opening the second user namespace");
	return EXIT_SUCCESS;
}

int namespaces_make_inner(bool more, int *ret_user_ns, struct err *err)
{
	_Alignas(16) char stack[CHILD_STACK];
	struct inner inner = { .user_ns = -1 };
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | SIGCHLD;
	pid_t pid = clone(open_inner, stack + sizeof(stack), flags, &inner);

	if (pid < 0)
		return err_sys(err, "creating the second user namespace");
	(void)waitpid(pid, NULL, 0);
	if (inner.user_ns < 0) {
		*err = inner.err;
		return -1;
	}
	if (!more && bound_kernel_objects(err) < 0) {
		fd_close(&inner.user_ns);
		return -1;
	}
	*ret_user_ns = inner.user_ns;
	return 0;
}

int namespaces_join_inner(int user_ns, struct err *err)
{
	if (setns(user_ns, CLONE_NEWUSER) < 0)
		return err_sys(err, "joining the second user namespace");
	return 0;
}
