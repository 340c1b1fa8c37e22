/* SPDX-License-Identifier: MIT */
#include "sandbox/init.h"

#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/minder.h"
#include "sandbox/plan.h"
#include "sandbox/warden.h"

struct init {
	struct warden warden;
	struct policy policy; /* its strings lie in the plan, which stays mapped */
	int folders[INIT_FOLDERS_MAX];
	size_t folder_count;
};

static void on_start(struct warden *warden, const struct wire_message *message)
{
	struct init *init = container_of(warden, struct init, warden);
	struct minder_task task = { .policy = &init->policy,
				    .workspace = init->folders[0],
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

static size_t count_folders(const struct policy *policy)
{
	return 1U + (policy->spool_path[0] != '\0') + (policy->packages_path[0] != '\0') +
	       policy->share_count;
}

static int take_policy(struct init *init, struct init_task *task, struct err *err)
{
	size_t len = 0;
	const void *plan = plan_map(task->plan, &len, err);

	fd_close(&task->plan);
	if (plan == NULL || plan_parse_sandbox(plan, len, &init->policy, err) < 0)
		return -1;
	if (task->folder_count != count_folders(&init->policy))
		return err_set(err, ERR_INVALID, "a policy with %zu folders and %zu descriptors",
			       count_folders(&init->policy), task->folder_count);
	init->folder_count = task->folder_count;
	memcpy(init->folders, task->folders, sizeof(init->folders));
	return 0;
}

/* Everything that was inherited but channel, plan and folders, which are renumbered. */
static int close_others(struct init_task *task, struct err *err)
{
	int *kept[2 + INIT_FOLDERS_MAX] = { &task->channel, &task->plan };

	for (size_t i = 0; i < task->folder_count; i++)
		kept[2 + i] = &task->folders[i];
	return warden_close_others(kept, 2 + task->folder_count, err);
}

int init_run(const struct init_task *task)
{
	struct init init = { 0 };
	struct init_task own = *task;
	struct err err;
	int rc = close_others(&own, &err);

	if (rc == 0)
		rc = warden_init(&init.warden, "ptycell-init", own.channel, own.parent, &err);
	if (rc == 0)
		rc = take_policy(&init, &own, &err);
	if (rc < 0) {
		wire_tell(own.channel, WIRE_FAILED, &err);
		return 1;
	}
	warden_serve(&init.warden, on_start, WARDEN_INIT_GRACE_MS);
	return 0;
}
