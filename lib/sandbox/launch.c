/* SPDX-License-Identifier: MIT */
#include "sandbox/launch.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/init.h"
#include "sandbox/warden.h"
#include "sandbox/wire.h"

/* What the server ends a sandbox with whose init does not end by itself. */
static void hand_over(int channel, pid_t pid)
{
	cleanup_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct err err;

	if (pidfd < 0 || wire_send(channel, WIRE_OPENED, NULL, &pidfd, 1, &err) < 0)
		return;
}

static void on_sandbox(struct warden *warden, const struct wire_message *message)
{
	struct init_task task = { .parent = getpid() };
	struct err err;
	pid_t pid;

	if (message->type != WIRE_SANDBOX) {
		warden->ended = true;
		return;
	}
	task.plan = message->fds[0];
	task.channel = message->fds[1];
	task.workspace = message->fds[2];
	pid = fork();
	if (pid == 0)
		_exit(init_run(&task));
	if (pid > 0) {
		pidlist_add(&warden->known, pid);
		hand_over(task.channel, pid);
		return;
	}
	(void)err_sys(&err, "forking a sandbox");
	wire_tell(task.channel, WIRE_FAILED, &err);
}

int launch_run(int channel, struct err *err)
{
	struct warden warden = { 0 };

	if (warden_init(&warden, "ptycell-launch", channel, 0, err) < 0)
		return -1;
	warden_serve(&warden, on_sandbox, WARDEN_LAUNCHER_GRACE_MS);
	warden_release(&warden);
	return 0;
}
