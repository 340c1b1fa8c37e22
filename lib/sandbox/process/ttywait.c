/* SPDX-License-Identifier: MIT */
/*
 * ttywait.c - finds a thread that waits for terminal input, by the system call it sleeps in.
 *
 * /proc/PID/task/TID/syscall gives the call and its arguments. The arguments of poll and select are
 * read from the process's memory; an epoll's descriptors are in fdinfo. A process that may not be
 * traced is only guessed at, from its state and its process group.
 */
#include "sandbox/process/ttywait.h"

#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"
#include "sandbox/process/proctree.h"

enum {
	POLL_FDS_MAX = 64, /* examined of one poll */
	BRIEF_MS = 1000,   /* programs that end may wait this long for an answer of the terminal */
	TTY_MAJOR = 5,     /* /dev/tty is 5:0: the process's own controlling terminal */
};

/* A sleeping thread and its system call. */
struct sleeper {
	const struct stat *slave;
	pid_t pid;
	pid_t tid;
	struct proctree_stat stat;
	long number;
	unsigned long args[6];
};

/* Returns the number that stands for the terminal in /proc/PID/stat. */
static unsigned int tty_number(dev_t device)
{
	unsigned int minor_number = minor(device);

	return (minor_number & 0xff) | (major(device) << 8) | ((minor_number & ~0xffU) << 12);
}

static bool is_terminal(const struct sleeper *sleeper, int fd)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", sleeper->pid, fd);
	if (stat(path, &st) < 0 || !S_ISCHR(st.st_mode))
		return false;
	if (st.st_dev == sleeper->slave->st_dev && st.st_ino == sleeper->slave->st_ino)
		return true;
	return st.st_rdev == makedev(TTY_MAJOR, 0) &&
	       (unsigned int)sleeper->stat.tty == tty_number(sleeper->slave->st_rdev);
}

static bool read_memory(const struct sleeper *sleeper, unsigned long address, void *ret, size_t len)
{
	struct iovec local = { ret, len };
	struct iovec remote = { (void *)(uintptr_t)address, len };

	return process_vm_readv(sleeper->pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool polls_terminal(const struct sleeper *sleeper)
{
	struct pollfd fds[POLL_FDS_MAX];
	size_t count = size_min(sleeper->args[1], POLL_FDS_MAX);

	if (count == 0 || !read_memory(sleeper, sleeper->args[0], fds, count * sizeof(fds[0])))
		return false;
	for (size_t i = 0; i < count; i++)
		if (fds[i].fd >= 0 && (fds[i].events & POLLIN) != 0 &&
		    is_terminal(sleeper, fds[i].fd))
			return true;
	return false;
}

static bool selects_terminal(const struct sleeper *sleeper)
{
	size_t count = size_min(sleeper->args[0], FD_SETSIZE);
	size_t words = (count + NFDBITS - 1) / NFDBITS;
	fd_set set;

	FD_ZERO(&set);
	if (sleeper->args[1] == 0 || count == 0 ||
	    !read_memory(sleeper, sleeper->args[1], &set, words * sizeof(fd_mask)))
		return false;
	for (int fd = 0; fd < (int)count; fd++)
		if (FD_ISSET(fd, &set) && is_terminal(sleeper, fd))
			return true;
	return false;
}

static bool epolls_terminal(const struct sleeper *sleeper)
{
	char path[64];
	char text[8192];
	const char *at = text;

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", sleeper->pid,
		       (int)sleeper->args[0]);
	if (!proctree_read(path, text, sizeof(text)))
		return false;
	while ((at = strstr(at, "tfd:")) != NULL) {
		int fd = -1;
		unsigned int events = 0;

		if (sscanf(at, "tfd: %d events: %x", &fd, &events) == 2 &&
		    (events & EPOLLIN) != 0 && is_terminal(sleeper, fd))
			return true;
		at++;
	}
	return false;
}

/* Returns the timeout of a poll, select or epoll wait; -1 for none. */
static int64_t timeout_ms(const struct sleeper *sleeper)
{
	struct timespec time; /* a timeval has the same layout, with another unit */
	unsigned long address = 0;
	int64_t unit = 1000000;

	switch (sleeper->number) {
#ifdef SYS_poll
	case SYS_poll:
		return (int)sleeper->args[2];
#endif
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		return (int)sleeper->args[3];
#ifdef SYS_select
	case SYS_select:
		unit = 1000;
		address = sleeper->args[4];
		break;
#endif
	case SYS_pselect6:
		address = sleeper->args[4];
		break;
	case SYS_ppoll:
		address = sleeper->args[2];
		break;
	case SYS_epoll_pwait2:
		address = sleeper->args[3];
		break;
	default:
		break;
	}
	if (address == 0 || !read_memory(sleeper, address, &time, sizeof(time)))
		return -1;
	return (int64_t)time.tv_sec * 1000 + (int64_t)time.tv_nsec / unit;
}

static bool is_brief(const struct sleeper *sleeper)
{
	int64_t ms = timeout_ms(sleeper);

	return ms >= 0 && ms < BRIEF_MS;
}

static bool is_epoll(const struct sleeper *sleeper)
{
#ifdef SYS_epoll_wait
	if (sleeper->number == SYS_epoll_wait)
		return true;
#endif
	return sleeper->number == SYS_epoll_pwait || sleeper->number == SYS_epoll_pwait2;
}

static bool waits_for_terminal(const struct sleeper *sleeper)
{
	switch (sleeper->number) {
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_preadv:
		return is_terminal(sleeper, (int)sleeper->args[0]);
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return polls_terminal(sleeper);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return selects_terminal(sleeper);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return epolls_terminal(sleeper);
	default:
		return false;
	}
}

/* Returns false when the thread may not be traced. */
static bool read_syscall(struct sleeper *sleeper)
{
	char path[64];
	char text[256];
	unsigned long *a = sleeper->args;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", sleeper->pid, sleeper->tid);
	if (!proctree_read(path, text, sizeof(text)))
		return false;
	if (sscanf(text, "%ld %lx %lx %lx %lx %lx %lx", &sleeper->number, &a[0], &a[1], &a[2],
		   &a[3], &a[4], &a[5]) != 7)
		sleeper->number = -1; /* it is running */
	return true;
}

static enum ttywait_state check_thread(struct sleeper *sleeper)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", sleeper->pid, sleeper->tid);
	if (!proctree_stat(path, &sleeper->stat))
		return TTYWAIT_NO;
	if ((unsigned int)sleeper->stat.tty == tty_number(sleeper->slave->st_rdev) &&
	    sleeper->stat.state == 'T' && sleeper->stat.group != sleeper->stat.foreground)
		return TTYWAIT_STOPPED;
	if (sleeper->stat.state != 'S')
		return TTYWAIT_NO;
	if (!read_syscall(sleeper))
		return sleeper->stat.group == sleeper->stat.foreground ? TTYWAIT_GUESS : TTYWAIT_NO;
	return waits_for_terminal(sleeper) ? TTYWAIT_YES : TTYWAIT_NO;
}

/* Returns how certain a state is, against others of the same tree. */
static int weight(int state)
{
	static const int weights[] = {
		[TTYWAIT_NO] = 0,
		[TTYWAIT_GUESS] = 1,
		[TTYWAIT_STOPPED] = 2,
		[TTYWAIT_YES] = 3,
	};
	_Static_assert(ARRAY_SIZE(weights) == TTYWAIT_STATES, "every state has a weight");

	return weights[state];
}

static void check_process(const struct stat *slave, pid_t pid, struct ttywait_result *result)
{
	char path[64];
	const struct dirent *entry;
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (tasks == NULL)
		return;
	while ((entry = readdir(tasks)) != NULL) {
		struct sleeper sleeper = { .slave = slave,
					   .pid = pid,
					   .tid = (pid_t)strtol(entry->d_name, NULL, 10) };
		int state = sleeper.tid > 0 ? (int)check_thread(&sleeper) : TTYWAIT_NO;

		if (weight(state) > weight(result->state))
			*result = (struct ttywait_result){ .state = state,
							   .process = pid,
							   .thread = sleeper.tid,
							   .watches = is_epoll(&sleeper),
							   .brief = is_brief(&sleeper) };
	}
	(void)closedir(tasks);
}

static void describe_reader(struct ttywait_result *result)
{
	char path[64];
	char text[128];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", result->process,
		       result->thread);
	if (proctree_read(path, text, sizeof(text)))
		result->ran = strtoull(text, NULL, 10);
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", result->process);
	if (proctree_read(path, text, sizeof(text)))
		(void)snprintf(result->name, sizeof(result->name), "%.*s", (int)strcspn(text, "\n"),
			       text);
}

struct ttywait_result ttywait_check(const struct stat *slave)
{
	cleanup_pidlist struct pidlist list = { 0 };
	struct ttywait_result result = { .state = TTYWAIT_NO };

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++)
		check_process(slave, list.pids[i], &result);
	if (result.state != TTYWAIT_NO)
		describe_reader(&result);
	return result;
}
