/* SPDX-License-Identifier: MIT */
#include "sandbox/launch.h"

#include <unistd.h>

#include "sandbox/init.h"
#include "sandbox/keeper.h"
#include "sandbox/wire.h"

static void on_sandbox(struct keeper *keeper, const struct wire_message *message)
{
	struct init_task task = { .parent = getpid() };
	struct err err;
	pid_t pid;

	if (message->type != WIRE_SANDBOX) {
		keeper->ended = true;
		return;
	}
	task.plan = message->fds[0];
	task.channel = message->fds[1];
	task.workspace = message->fds[2];
	pid = fork();
	if (pid == 0)
		_exit(init_run(&task));
	if (pid > 0) {
		pidlist_add(&keeper->known, pid);
		return;
	}
	(void)err_sys(&err, "forking a sandbox");
	wire_tell(task.channel, WIRE_FAILED, &err);
}

int launch_run(int channel, struct err *err)
{
	struct keeper keeper = { 0 };

	if (keeper_init(&keeper, "ptycell-launch", channel, 0, err) < 0)
		return -1;
	keeper_serve(&keeper, on_sandbox, KEEPER_LAUNCHER_GRACE_MS);
	keeper_release(&keeper);
	return 0;
}
