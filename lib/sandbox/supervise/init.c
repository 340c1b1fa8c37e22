/* SPDX-License-Identifier: MIT */
/*
 * init.c - builds the sandbox around the calling process, then forks supervisors on request.
 *
 * In a zygote sandbox's session an interpreter is forked from the zygote: init sends the zygote its
 * namespaces, and the supervisor comes out as init's child. The new supervisor is born in the
 * zygote's control group. It waits until init has moved it, so that no process of the session is
 * ever outside the session's group. When the zygote does not reply, init forks and the interpreter
 * is exec'd. Init also measures what the session uses, because only it can see all its processes.
 */
#include "sandbox/supervise/init.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/namespaces/cgroup.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/namespaces/zygote_namespaces.h"
#include "sandbox/process/file_limit.h"
#include "sandbox/process/usage.h"
#include "sandbox/rootfs/rootfs.h"
#include "sandbox/supervise/setup.h"
#include "sandbox/supervise/subreaper.h"
#include "sandbox/supervise/supervisor.h"
#include "sandbox/wire/plan.h"

enum { STARTS_KEPT = 64 };

struct init {
	struct subreaper subreaper;
	struct policy policy; /* its strings point into the plan, which stays mapped */
	struct setup_result setup;
	struct privdrop_means means;
	int plan;    /* for requests to a zygote; -1: not kept */
	int members; /* for cgroup_move; -1: forked supervisors are in the right group already */
	uint64_t file_max;   /* the limit that the server set last */
	uint64_t shared_max; /* of /dev/shm, as it was set last */
	uint32_t starts;
	pid_t supervisors[STARTS_KEPT]; /* pids of the last starts, by start number; 0: failed */
};

/* Supervisors are the first generation, interpreters the second. */
enum {
	FIRST_OF_SESSION = 2,
	ZYGOTE_TIMEOUT_MS = 1000, /* it forks within 5 ms: after this it hangs */
};

static struct usage_paths choose_paths(const struct policy *policy)
{
	bool rooted = policy->tier == POLICY_NAMESPACES || policy->tier == POLICY_BWRAP;

	return (struct usage_paths){ .folder = rooted ? POLICY_DATA : policy->data_path,
				     .shared = rooted ? ROOTFS_SHARED : NULL };
}

/* Sizes /dev/shm to the memory that the processes leave. A program that writes more gets ENOSPC. */
static void fit_shared_memory(struct init *init, const struct usage *usage)
{
	uint64_t bytes;

	if (init->policy.tier != POLICY_NAMESPACES)
		return;
	bytes = rootfs_shared_room(&init->policy, usage->memory_bytes - usage->shared_bytes);
	if (bytes < usage->shared_bytes)
		bytes = usage->shared_bytes;
	if (bytes != init->shared_max && rootfs_resize_shared(bytes) == 0)
		init->shared_max = bytes;
}

/* Returns the number of the start whose supervisor this is; 0 when it is too old to be known. */
static int32_t find_start_number(const struct init *init, pid_t supervisor)
{
	for (uint32_t back = 0; back < STARTS_KEPT && back < init->starts; back++)
		if (init->supervisors[(init->starts - back) % STARTS_KEPT] == supervisor)
			return (int32_t)(init->starts - back);
	return 0;
}

static void send_usage(struct subreaper *subreaper, bool exact)
{
	struct init *init = container_of(subreaper, struct init, subreaper);
	const struct usage_paths paths = choose_paths(&init->policy);
	struct usage_process largest;
	struct usage usage;

	usage_measure(FIRST_OF_SESSION, exact, &paths, &usage, &largest);
	fit_shared_memory(init, &usage);
	for (size_t i = 0; i < USAGE_BUSY_MAX && usage.growths[i].parent != 0; i++)
		usage.growths[i].parent = find_start_number(init, usage.growths[i].parent);
	wire_notify(subreaper->channel, WIRE_MEASURED, &usage);
}

static void relieve(const struct init *init, const struct wire_message *message)
{
	const struct usage_paths paths = choose_paths(&init->policy);
	struct usage_killed killed;
	struct usage_kill_request request;

	memcpy(&request, message->payload, sizeof(request));
	for (size_t i = 0; i < USAGE_BUSY_MAX; i++)
		request.busy[i] = init->supervisors[(uint32_t)request.busy[i] % STARTS_KEPT];
	usage_kill(FIRST_OF_SESSION, &request, &paths, &killed);
	wire_notify(init->subreaper.channel, WIRE_RELIEVED, &killed);
}

static void set_file_max(struct init *init, const struct wire_message *message)
{
	uint64_t file_max;

	memcpy(&file_max, message->payload, sizeof(file_max));
	file_limit_set(init->file_max, file_max);
	init->file_max = file_max;
}

/* ---- starting ---- */

static int request_fork(const struct supervisor_task *task, int policy, int report, int zygote,
			struct err *err)
{
	int fds[WIRE_FORK_FDS] = {
		[WIRE_FORK_PLAN] = task->plan,       [WIRE_FORK_CHANNEL] = task->channel,
		[WIRE_FORK_POLICY] = policy,         [WIRE_FORK_REPORT] = report,
		[WIRE_FORK_USER_NS] = task->user_ns,
	};
	const int32_t own_inodes = task->policy->own_inodes;
	int rc;

	if (namespaces_open_own(fds + WIRE_FORK_NAMESPACES, err) < 0)
		return -1;
	rc = wire_send(zygote, WIRE_FORK, &own_inodes, fds, WIRE_FORK_FDS, err);
	for (size_t i = WIRE_FORK_NAMESPACES; i < WIRE_FORK_FDS; i++)
		fd_close(&fds[i]);
	return rc;
}

/*
 * Requests a supervisor from the zygote, moves it into init's control group and releases it.
 * Returns its pid, or 0 when there is none. A supervisor that comes too late sees the end of the
 * report channel and exits.
 */
static pid_t fork_from_zygote(const struct supervisor_task *task, const struct init *init,
			      int zygote)
{
	cleanup_fd int ours = -1;
	cleanup_fd int theirs = -1;
	int pair[2];
	int32_t pid = 0;
	struct err err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return 0;
	ours = pair[0];
	theirs = pair[1];
	if (request_fork(task, init->plan, theirs, zygote, &err) < 0)
		return 0;
	fd_close(&theirs);
	if (poll(&(struct pollfd){ .fd = ours, .events = POLLIN }, 1, ZYGOTE_TIMEOUT_MS) == 0)
		(void)shutdown(zygote, SHUT_RDWR); /* so that no later start waits for it again */
	if (recv(ours, &pid, sizeof(pid), MSG_DONTWAIT) != (ssize_t)sizeof(pid) || pid <= 0)
		return 0;
	if (init->members >= 0 && cgroup_move(init->members, pid) < 0)
		return 0;
	return send(ours, "g", 1, MSG_NOSIGNAL) == 1 ? pid : 0;
}

static void add_supervisor(struct init *init, pid_t pid)
{
	init->supervisors[++init->starts % STARTS_KEPT] = pid;
	if (pid > 0)
		pidlist_add(&init->subreaper.known, pid);
}

static void on_start(struct subreaper *subreaper, const struct wire_message *message)
{
	struct init *init = container_of(subreaper, struct init, subreaper);
	struct supervisor_task task = { .policy = &init->policy,
					.means = &init->means,
					.workspace = init->setup.workspace,
					.user_ns = init->setup.user_ns,
					.parent = getpid() };
	struct err err;
	pid_t pid;

	task.plan = message->fds[0];
	task.channel = message->fds[1];
	if (message->fd_count > 2 && init->plan >= 0) {
		pid = fork_from_zygote(&task, init, message->fds[2]);
		if (pid > 0) {
			add_supervisor(init, pid);
			return;
		}
	}
	pid = fork();
	if (pid == 0)
		_exit(supervisor_run(&task));
	if (pid > 0) {
		add_supervisor(init, pid);
		return;
	}
	add_supervisor(init, 0);
	(void)err_sys(&err, "forking a minder");
	wire_notify(task.channel, WIRE_FAILED, &err);
}

static void on_init_request(struct subreaper *subreaper, const struct wire_message *message)
{
	if (message->type == WIRE_START)
		on_start(subreaper, message);
	else if (message->type == WIRE_MEASURE)
		send_usage(subreaper, wire_get_number(message) != 0);
	else if (message->type == WIRE_RELIEVE)
		relieve(container_of(subreaper, struct init, subreaper), message);
	else if (message->type == WIRE_FILE_MAX)
		set_file_max(container_of(subreaper, struct init, subreaper), message);
	else
		subreaper->ended = true;
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

	if (plan == NULL || plan_parse_sandbox(plan, len, &init->policy, err) < 0)
		return -1;
	/* A zygote applies all layers, which tests that leave some out do not want. */
	if (init->policy.nested && init->means.without == 0)
		init->plan = fd_steal(&task->plan);
	fd_close(&task->plan);
	/*
	 * A zygote must be able to join sessions, so it takes no layer that would hold it or its
	 * forks.
	 */
	if (init->policy.zygote_sandbox)
		init->means.without |= BIT(LAYER_LANDLOCK) | BIT(LAYER_SECCOMP);
	if (init->policy.zygote_sandbox && task->map.other_user)
		init->means.without |= BIT(LAYER_SECOND_USER_NAMESPACE);
	return 0;
}

/* Closes every inherited descriptor but these, which get new numbers. */
static int keep_init_descriptors(struct init_task *task, struct err *err)
{
	int *kept[3 + INIT_FOLDERS_MAX] = { &task->channel, &task->plan };
	size_t count = 2;

	if (task->members >= 0)
		kept[count++] = &task->members;
	for (size_t i = 0; i < task->folder_count; i++)
		kept[count++] = &task->folders[i];
	return subreaper_close_others(kept, count, err);
}

static int send_listener(int channel, struct err *err)
{
	cleanup_fd int listener = namespaces_listen(err);

	if (listener < 0)
		return -1;
	return wire_send(channel, WIRE_LISTENER, NULL, &listener, 1, err);
}

static int send_zygote_namespaces(int channel, int inner, struct err *err)
{
	int fds[ZYGOTE_NAMESPACES_NAMESPACES];
	int rc;

	if (zygote_namespaces_open(inner, fds, err) < 0)
		return -1;
	rc = wire_send(channel, WIRE_ZYGOTE_NAMESPACES, NULL, fds, ZYGOTE_NAMESPACES_NAMESPACES,
		       err);
	for (size_t i = 0; i < ZYGOTE_NAMESPACES_NAMESPACES; i++)
		fd_close(&fds[i]);
	return rc;
}

static int set_up_sandbox(struct init *init, struct init_task *task, struct err *err)
{
	if (take_policy(init, task, err) < 0 ||
	    setup_self(&init->policy,
		       &(struct setup_task){ .folders = task->folders,
					     .map = &task->map,
					     .idmapped = task->idmapped,
					     .outside = task->parent,
					     .means = &init->means },
		       &init->setup, err) < 0)
		return -1;
	for (size_t i = 0; i < task->folder_count; i++)
		if (task->folders[i] != init->setup.workspace)
			fd_close(&task->folders[i]);
	init->members = task->members;
	init->file_max = init->policy.file_max;
	if (init->policy.zygote_sandbox)
		return send_zygote_namespaces(task->channel, init->setup.user_ns, err);
	if (init->policy.proxy && init->policy.tier >= POLICY_BWRAP)
		return send_listener(task->channel, err);
	return 0;
}

/*
 * With its pid 1 the kernel ends a whole pid namespace, so SIGTERM from the parent is not needed.
 */
static int become_subreaper(struct init *init, const struct init_task *task, struct err *err)
{
	const bool is_first = init->policy.tier >= POLICY_BWRAP;

	if (subreaper_init(&init->subreaper, "ptycell-init", task->channel,
			   is_first ? 0 : task->parent, err) < 0)
		return -1;
	init->subreaper.kills_all = init->setup.kills_all;
	init->subreaper.obeys_parent_only = is_first;
	return is_first ? namespaces_bind_life(false, err) : 0;
}

int init_run(const struct init_task *task)
{
	struct init init = { .means = *task->means,
			     .plan = -1,
			     .members = -1,
			     .setup = { .workspace = -1, .user_ns = -1 } };
	struct init_task own = *task;
	struct err err;

	if (keep_init_descriptors(&own, &err) < 0 || set_up_sandbox(&init, &own, &err) < 0 ||
	    become_subreaper(&init, &own, &err) < 0) {
		wire_notify(own.channel, WIRE_FAILED, &err);
		return 1;
	}
	subreaper_serve(&init.subreaper, on_init_request, SUBREAPER_INIT_GRACE_MS);
	return 0;
}
