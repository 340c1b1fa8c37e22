/* SPDX-License-Identifier: MIT */
#include "sandbox/init.h"

#include <unistd.h>

#include "base/fd.h"
#include "sandbox/minder.h"
#include "sandbox/plan.h"
#include "sandbox/warden.h"
#include "sandbox/wire.h"

struct init {
	struct warden warden;
	struct policy policy;
	int workspace;
};

static void on_start(struct warden *warden, const struct wire_message *message)
{
	struct init *init = container_of(warden, struct init, warden);
	struct minder_task task = { .policy = &init->policy,
				    .workspace = init->workspace,
				    .parent = getpid() };
	struct err err;
	pid_t pid;

	if (message->type != WIRE_START) {
		warden->ended = true;
		return;
	}
	task.plan = message->fds[0];
	task.channel = message->fds[1];
	pid = fork();
	if (pid == 0)
		_exit(minder_run(&task));
	if (pid > 0) {
		pidlist_add(&warden->known, pid);
		return;
	}
	(void)err_sys(&err, "forking a minder");
	wire_tell(task.channel, WIRE_FAILED, &err);
}

/*
 * Where the sandbox is built, in this order: namespaces and mounts here, what each interpreter
 * gives up for itself in payload.c.
 */
static int set_up(struct init *init, struct init_task *task, struct err *err)
{
	size_t len = 0;
	const void *plan = plan_map(task->plan, &len, err);
	int rc;

	fd_close(&task->plan);
	if (plan == NULL)
		return -1;
	rc = plan_parse_sandbox(plan, len, &init->policy, err);
	plan_unmap(plan, len);
	init->workspace = task->workspace;
	return rc;
}

int init_run(const struct init_task *task)
{
	struct init init = { .workspace = -1 };
	struct init_task own = *task;
	struct err err;
	int rc;

	rc = warden_close_others((int *const[]){ &own.channel, &own.plan, &own.workspace }, 3,
				 &err);
	if (rc == 0)
		rc = warden_init(&init.warden, "ptycell-init", own.channel, own.parent, &err);
	if (rc == 0)
		rc = set_up(&init, &own, &err);
	if (rc < 0) {
		wire_tell(own.channel, WIRE_FAILED, &err);
		return 1;
	}
	warden_serve(&init.warden, on_start, WARDEN_INIT_GRACE_MS);
	return 0;
}
