/* SPDX-License-Identifier: MIT */
#include "sandbox/init.h"

#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/enclose.h"
#include "sandbox/minder.h"
#include "sandbox/namespaces.h"
#include "sandbox/plan.h"
#include "sandbox/usage.h"
#include "sandbox/warden.h"

struct init {
	struct warden warden;
	struct policy policy; /* its strings lie in the plan, which stays mapped */
	struct enclosure enclosure;
	const struct confine_means *means;
};

/* Minders are the first generation, interpreters the second. */
enum { FIRST_OF_SESSION = 2 };

static void measure(struct warden *warden, bool exact)
{
	const struct policy *policy = &container_of(warden, struct init, warden)->policy;
	const char *folder = policy->tier == POLICY_NAMESPACES || policy->tier == POLICY_BWRAP
				     ? POLICY_DATA
				     : policy->data_path;
	struct usage_largest largest;
	struct usage usage;

	usage_measure(FIRST_OF_SESSION, exact, folder, &usage, &largest);
	wire_tell(warden->channel, WIRE_MEASURED, &usage);
}

static void relieve(const struct warden *warden)
{
	struct usage_largest largest;
	struct usage usage;

	usage_measure(FIRST_OF_SESSION, true, NULL, &usage, &largest);
	usage_kill(&largest);
	wire_tell(warden->channel, WIRE_RELIEVED, &largest);
}

static void on_start(struct warden *warden, const struct wire_message *message)
{
	struct init *init = container_of(warden, struct init, warden);
	struct minder_task task = { .policy = &init->policy,
				    .means = init->means,
				    .workspace = init->enclosure.workspace,
				    .user_ns = init->enclosure.user_ns,
				    .parent = getpid() };
	struct err err;
	pid_t pid;

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

static void on_message(struct warden *warden, const struct wire_message *message)
{
	if (message->type == WIRE_START)
		on_start(warden, message);
	else if (message->type == WIRE_MEASURE)
		measure(warden, wire_get_number(message) != 0);
	else if (message->type == WIRE_RELIEVE)
		relieve(warden);
	else
		warden->ended = true;
}

size_t init_count_folders(const struct policy *policy)
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

static int hand_out_listener(int channel, struct err *err)
{
	cleanup_fd int listener = namespaces_listen(err);

	if (listener < 0)
		return -1;
	return wire_send(channel, WIRE_LISTENER, NULL, &listener, 1, err);
}

static int set_up(struct init *init, struct init_task *task, struct err *err)
{
	if (take_policy(init, task, err) < 0 ||
	    enclose_self(&init->policy,
			 &(struct enclose_task){ .folders = task->folders,
						 .map = &task->map,
						 .shifted = task->shifted,
						 .outside = task->parent,
						 .means = task->means },
			 &init->enclosure, err) < 0)
		return -1;
	for (size_t i = 0; i < task->folder_count; i++)
		if (task->folders[i] != init->enclosure.workspace)
			fd_close(&task->folders[i]);
	if (init->policy.proxy && init->policy.tier >= POLICY_BWRAP)
		return hand_out_listener(task->channel, err);
	return 0;
}

/* In a pid namespace the kernel ends all of it with its pid 1: no need for a gentle signal. */
static int become_warden(struct init *init, const struct init_task *task, struct err *err)
{
	const bool is_first = init->policy.tier >= POLICY_BWRAP;

	if (warden_init(&init->warden, "ptycell-init", task->channel, is_first ? 0 : task->parent,
			err) < 0)
		return -1;
	init->warden.kills_all = init->enclosure.kills_all;
	init->warden.obeys_parent_only = is_first;
	return is_first ? namespaces_bind_life(false, err) : 0;
}

int init_run(const struct init_task *task)
{
	struct init init = { .means = task->means,
			     .enclosure = { .workspace = -1, .user_ns = -1 } };
	struct init_task own = *task;
	struct err err;

	if (close_others(&own, &err) < 0 || set_up(&init, &own, &err) < 0 ||
	    become_warden(&init, &own, &err) < 0) {
		wire_tell(own.channel, WIRE_FAILED, &err);
		return 1;
	}
	warden_serve(&init.warden, on_message, WARDEN_INIT_GRACE_MS);
	return 0;
}
