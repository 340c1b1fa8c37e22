/* SPDX-License-Identifier: MIT */
#include "sandbox/launch.h"

#include <unistd.h>

#include "sandbox/init.h"
#include "sandbox/warden.h"
#include "sandbox/wire.h"

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
