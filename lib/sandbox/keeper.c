/* SPDX-License-Identifier: MIT */
#include "sandbox/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

enum { PAUSE_MS = 2 /* between two looks for processes that are still to die */ };

int keeper_init(struct keeper *keeper, const char *name, int channel, pid_t parent, struct err *err)
{
	sigset_t all;
	sigset_t watched;

	*keeper = (struct keeper){ .channel = channel, .signals = -1 };
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)sigemptyset(&watched);
	(void)sigaddset(&watched, SIGCHLD);
	(void)sigaddset(&watched, SIGTERM);
	keeper->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (keeper->signals < 0)
		return err_sys(err, "watching signals");
	if (prctl(PR_SET_NAME, name) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return err_sys(err, "preparing %s", name);
	/* The parent may have died before the line above. */
	keeper->ended = parent != 0 && getppid() != parent;
	return 0;
}

int keeper_close_others(int *const *fds, size_t count, struct err *err)
{
	const int low = STDERR_FILENO + 1;
	const int high = low + (int)count;

	/* Out of the way of the numbers that are given out below. */
	for (size_t i = 0; i < count; i++) {
		*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, high);
		if (*fds[i] < 0)
			return err_sys(err, "moving a descriptor");
	}
	for (size_t i = 0; i < count; i++) {
		*fds[i] = dup3(*fds[i], low + (int)i, O_CLOEXEC);
		if (*fds[i] < 0)
			return err_sys(err, "moving a descriptor");
	}
	if (close_range((unsigned int)high, ~0U, 0) < 0)
		return err_sys(err, "closing descriptors");
	return 0;
}

static void read_signals(struct keeper *keeper, struct keeper_wake *wake)
{
	struct signalfd_siginfo info;

	while (read(keeper->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM)
			keeper->ended = true;
		else
			wake->child = true;
	}
}

struct keeper_wake keeper_wait(struct keeper *keeper, int extra_fd, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = keeper->signals, .events = POLLIN },
		{ .fd = keeper->channel, .events = POLLIN },
		{ .fd = extra_fd, .events = POLLIN },
	};
	struct keeper_wake wake = { 0 };

	if (poll(fds, ARRAY_SIZE(fds), timeout_ms) <= 0)
		return wake;
	if (fds[0].revents != 0)
		read_signals(keeper, &wake);
	wake.message = fds[1].revents != 0;
	wake.extra = fds[2].revents != 0;
	return wake;
}

int keeper_receive(struct keeper *keeper, struct wire_message *ret_message)
{
	struct err err;
	int got = wire_receive(keeper->channel, ret_message, &err);

	if (got == 0 || (got < 0 && err.code != ERR_BUSY))
		keeper->ended = true;
	return got == 1;
}

pid_t keeper_reap(struct keeper *keeper, int *ret_wait_status)
{
	pid_t pid = waitpid(-1, ret_wait_status, WNOHANG);

	if (pid > 0)
		pidlist_remove(&keeper->known, pid);
	return pid;
}

size_t keeper_kill_strangers(struct keeper *keeper)
{
	cleanup_pidlist struct pidlist children = { 0 };
	size_t strangers = 0;

	proctree_children(&children);
	for (size_t i = 0; i < children.len; i++)
		if (!pidlist_has(&keeper->known, children.pids[i])) {
			(void)kill(children.pids[i], SIGKILL);
			strangers++;
		}
	return strangers;
}

static void signal_known(const struct keeper *keeper, int signo)
{
	for (size_t i = 0; i < keeper->known.len; i++)
		(void)kill(keeper->known.pids[i], signo);
}

void keeper_end_all(struct keeper *keeper, unsigned int grace_ms)
{
	uint64_t deadline = clock_ms() + grace_ms;
	int wait_status;

	signal_known(keeper, SIGTERM);
	for (;;) {
		pid_t pid = keeper_reap(keeper, &wait_status);

		if (pid < 0)
			return;
		if (pid > 0)
			continue;
		(void)keeper_kill_strangers(keeper);
		if (clock_ms() >= deadline)
			signal_known(keeper, SIGKILL);
		/* Woken by the signalfd when a child ends; orphans come without a signal. */
		(void)poll(&(struct pollfd){ .fd = keeper->signals, .events = POLLIN }, 1,
			   PAUSE_MS);
		(void)read_signals(keeper, &(struct keeper_wake){ 0 });
	}
}

/* Reaps whoever ended; true while there are orphans that must still die. */
static bool tidy(struct keeper *keeper)
{
	int wait_status;

	while (keeper_reap(keeper, &wait_status) > 0)
		;
	return keeper_kill_strangers(keeper) > 0;
}

void keeper_serve(struct keeper *keeper, keeper_fn *fn, unsigned int grace_ms)
{
	bool untidy = false;

	while (!keeper->ended) {
		struct keeper_wake wake = keeper_wait(keeper, -1, untidy ? PAUSE_MS : -1);
		cleanup_wire struct wire_message message = { 0 };

		if (wake.message && keeper_receive(keeper, &message) == 1)
			fn(keeper, &message);
		if (wake.child || untidy)
			untidy = tidy(keeper);
	}
	keeper_end_all(keeper, grace_ms);
}

void keeper_release(struct keeper *keeper)
{
	fd_close(&keeper->channel);
	fd_close(&keeper->signals);
	pidlist_release(&keeper->known);
}
