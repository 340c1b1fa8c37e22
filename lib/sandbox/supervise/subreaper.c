/* SPDX-License-Identifier: MIT */
/*
 * subreaper.c - the main loop of launcher, init and supervisor, and the end of their processes.
 *
 * An orphan below a subreaper becomes its child without any signal, so children that it did not
 * make are found by /proc and killed. SIGCHLD and SIGTERM arrive by a signalfd. A process that
 * ended itself before its children would leave them to init of the machine, so it reaps until
 * waitpid finds no child.
 */
#include "sandbox/supervise/subreaper.h"

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

enum { PAUSE_MS = 2 /* between two rounds of killing */ };

int subreaper_init(struct subreaper *subreaper, const char *name, int channel, pid_t parent,
		   struct err *err)
{
	sigset_t all;
	sigset_t watched;

	*subreaper = (struct subreaper){ .channel = channel, .signals = -1 };
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)sigemptyset(&watched);
	(void)sigaddset(&watched, SIGCHLD);
	(void)sigaddset(&watched, SIGTERM);
	subreaper->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (subreaper->signals < 0)
		return err_sys(err, "watching signals");
	if (prctl(PR_SET_NAME, name) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return err_sys(err, "preparing %s", name);
	/* The parent may have died before PR_SET_PDEATHSIG. */
	subreaper->ended = parent != 0 && getppid() != parent;
	return 0;
}

int subreaper_close_others(int *const *fds, size_t count, struct err *err)
{
	const int low = STDERR_FILENO + 1;
	const int high = low + (int)count;

	/* Above the numbers that are assigned below. */
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
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0 || fd_close_from(high) < 0)
		return err_sys(err, "closing descriptors");
	return 0;
}

/* Only kill() has this code, not sigqueue(). The parent of a pid 1 shows as 0. */
static bool is_from_parent(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_USER && info->ssi_pid == (uint32_t)getppid();
}

static void read_signals(struct subreaper *subreaper, struct subreaper_wake *wake)
{
	struct signalfd_siginfo info;

	while (read(subreaper->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			wake->child = true;
		else if (!subreaper->obeys_parent_only || is_from_parent(&info))
			subreaper->ended = true;
	}
}

struct subreaper_wake subreaper_wait(struct subreaper *subreaper, int extra_fd, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = subreaper->signals, .events = POLLIN },
		{ .fd = subreaper->channel, .events = POLLIN },
		{ .fd = extra_fd, .events = POLLIN },
	};
	struct subreaper_wake wake = { 0 };

	if (poll(fds, ARRAY_SIZE(fds), timeout_ms) <= 0)
		return wake;
	if (fds[0].revents != 0)
		read_signals(subreaper, &wake);
	wake.message = fds[1].revents != 0;
	wake.extra = fds[2].revents != 0;
	return wake;
}

int subreaper_receive(struct subreaper *subreaper, struct wire_message *ret_message)
{
	struct err err;
	int got = wire_receive(subreaper->channel, ret_message, &err);

	if (got == 0 || (got < 0 && err.code != ERR_BUSY))
		subreaper->ended = true;
	return got == 1;
}

pid_t subreaper_reap(struct subreaper *subreaper, int *ret_wait_status)
{
	pid_t pid = waitpid(-1, ret_wait_status, WNOHANG);

	if (pid <= 0)
		return pid;
	pidlist_remove(&subreaper->known, pid);
	if (subreaper->reaped != NULL)
		subreaper->reaped(subreaper, pid);
	return pid;
}

static size_t kill_orphans(struct subreaper *subreaper)
{
	cleanup_pidlist struct pidlist children = { 0 };
	size_t orphans = 0;

	proctree_children(&children);
	for (size_t i = 0; i < children.len; i++)
		if (!pidlist_has(&subreaper->known, children.pids[i])) {
			(void)kill(children.pids[i], SIGKILL);
			orphans++;
		}
	return orphans;
}

static void signal_known(const struct subreaper *subreaper, int signo)
{
	for (size_t i = 0; i < subreaper->known.len; i++)
		(void)kill(subreaper->known.pids[i], signo);
}

/*
 * Kills before the process itself ends: the end of its channel means that no process writes in the
 * session's folder any more.
 */
static void end_group(void)
{
	do {
		(void)kill(-1, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* all that are dead: the signal goes through every process of the machine
			   */
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static void end_all(struct subreaper *subreaper, unsigned int grace_ms)
{
	uint64_t deadline = clock_ms() + grace_ms;
	int wait_status;

	signal_known(subreaper, SIGTERM);
	for (;;) {
		pid_t pid = subreaper_reap(subreaper, &wait_status);

		if (pid < 0)
			return;
		if (pid > 0)
			continue;
		(void)kill_orphans(subreaper);
		if (clock_ms() >= deadline)
			signal_known(subreaper, SIGKILL);
		/* The signalfd wakes when a child ends; orphans arrive without a signal. */
		(void)poll(&(struct pollfd){ .fd = subreaper->signals, .events = POLLIN }, 1,
			   PAUSE_MS);
		(void)read_signals(subreaper, &(struct subreaper_wake){ 0 });
	}
}

/*
 * Continues stopped children. Unconfined code can stop its supervisor, which must not outlive the
 * session.
 */
static void wake_stopped(const struct subreaper *subreaper)
{
	for (size_t i = 0; i < subreaper->known.len; i++) {
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_PID, (id_t)subreaper->known.pids[i], &info, WSTOPPED | WNOHANG) == 0 &&
		    info.si_pid != 0)
			(void)kill(info.si_pid, SIGCONT);
	}
}

/* Reaps all ended children. Returns whether there are orphans that have yet to die. */
static bool reap_and_kill_orphans(struct subreaper *subreaper)
{
	int wait_status;

	wake_stopped(subreaper);
	while (subreaper_reap(subreaper, &wait_status) > 0)
		;
	return kill_orphans(subreaper) > 0;
}

void subreaper_serve(struct subreaper *subreaper, subreaper_fn *fn, unsigned int grace_ms)
{
	bool orphans_left = false;

	while (!subreaper->ended) {
		struct subreaper_wake wake =
			subreaper_wait(subreaper, -1, orphans_left ? PAUSE_MS : -1);
		cleanup_wire struct wire_message message = { 0 };

		if (wake.message && subreaper_receive(subreaper, &message) == 1)
			fn(subreaper, &message);
		if (wake.child || orphans_left)
			orphans_left = reap_and_kill_orphans(subreaper);
	}
	if (subreaper->kills_all)
		end_group();
	else
		end_all(subreaper, grace_ms);
}

void subreaper_release(struct subreaper *subreaper)
{
	fd_close(&subreaper->channel);
	fd_close(&subreaper->signals);
	pidlist_release(&subreaper->known);
}
