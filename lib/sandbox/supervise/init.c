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

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/namespaces/cgroup.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/namespaces/zygote_namespaces.h"
#include "sandbox/process/file_limit.h"
#include "sandbox/process/memory_limit.h"
#include "sandbox/process/process_limit.h"
#include "sandbox/process/usage.h"
#include "sandbox/rootfs/rootfs.h"
#include "sandbox/rootfs/share_seal.h"
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
	uint64_t file_max;      /* the limit that the server set last */
	uint64_t shared_max;    /* of /dev/shm, as it was set last */
	uint64_t processes_max; /* of the session: the policy's, before init adds those beside it */
	uint64_t beside;        /* the user's other processes, as they were counted last */
	uint64_t count;         /* all of the user's, as they were counted last; 0: not yet */
	bool user_full;         /* they left no room when they were counted last */
	struct share_seal seal;
	bool fits_memory; /* interpreters have a limit of memory_limit_set */
	uint32_t starts;
	bool fail_softly[STARTS_KEPT];  /* by start number: WIRE_START's number */
	pid_t supervisors[STARTS_KEPT]; /* pids of the last starts, by start number; 0: failed */
};

/* Supervisors are the first generation, interpreters the second. */
enum {
	FIRST_OF_SESSION = 2,
	ZYGOTE_TIMEOUT_MS = 1000, /* it forks within 5 ms: after this it hangs */
	PROCESSES_NEAR = 2,       /* that may come and go while they are counted */
	MEMORY_FEW_PART = 16,     /* part of the limit that leaves enough to every process */
	MEMORY_LEAST = 16 << 20,  /* for what an interpreter needs to report an error */
};

static bool is_rooted(const struct policy *policy)
{
	return policy->tier == POLICY_NAMESPACES || policy->tier == POLICY_BWRAP;
}

static struct usage_paths choose_paths(const struct policy *policy)
{
	bool rooted = is_rooted(policy);

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

/*
 * Limits interpreters to the memory that they leave together. Programs are not counted: they are
 * killed first, and a quick measure counts what they share with the process that forked them.
 */
static void fit_memory(struct init *init, const struct usage *usage)
{
	cleanup_pidlist struct pidlist parents = { 0 };
	cleanup_pidlist struct pidlist interpreters = { 0 };
	uint64_t max = init->policy.memory_max;
	uint64_t used = usage->memory_bytes - usage->programs_bytes;
	uint64_t left = used < max ? max - used : 0;
	bool fits = used > max / MEMORY_FEW_PART;

	if (!fits && !init->fits_memory)
		return;
	init->fits_memory = fits;
	for (uint32_t i = 0; i < STARTS_KEPT; i++)
		if (init->fail_softly[i] && init->supervisors[i] > 0)
			pidlist_add(&parents, init->supervisors[i]);
	usage_list_interpreters(FIRST_OF_SESSION, &parents, &interpreters);
	memory_limit_set(&interpreters, fits ? left : UINT64_MAX, MEMORY_LEAST);
}

static bool counts_user(const struct init *init)
{
	return init->policy.tier == POLICY_LANDLOCK && init->processes_max != POLICY_NO_LIMIT;
}

/*
 * Returns whether a user with `count` processes has no room for those that an interpreter starts
 * with: by the user's own limit, or by the session's `limit`, which was set when there were fewer.
 */
static bool is_full(uint64_t count, uint64_t limit)
{
	struct rlimit own;

	return count == PROCESS_LIMIT_UNKNOWN || count + PROCESSES_NEAR >= limit ||
	       (getrlimit(RLIMIT_NPROC, &own) == 0 && count + PROCESSES_NEAR >= own.rlim_cur);
}

/*
 * Returns the limit that leaves the session its processes beside the user's others. `tasks` of the
 * session were counted just before. If one of them has ended since, the others seem fewer, so the
 * larger of their last two numbers is used. So it is while the kernel refuses all forks.
 */
static uint64_t find_processes_max(struct init *init, uint64_t tasks)
{
	uint64_t count = process_limit_count(init->count);
	uint64_t before = init->beside;

	if (count == 0)
		return POLICY_NO_LIMIT;
	init->user_full =
		is_full(count, init->count == 0 ? POLICY_NO_LIMIT : init->processes_max + before);
	if (count != PROCESS_LIMIT_UNKNOWN) {
		init->count = count;
		init->beside = count > tasks ? count - tasks : 0;
	}
	return init->processes_max + (before > init->beside ? before : init->beside);
}

/* Sets the limit with which an interpreter starts. */
static void begin_processes(struct init *init)
{
	if (counts_user(init))
		init->policy.processes_max =
			find_processes_max(init, usage_count_tasks(FIRST_OF_SESSION));
}

/* Limits the session's processes where the kernel counts all of the user. */
static void fit_processes(struct init *init, const struct usage *usage)
{
	uint64_t max = find_processes_max(init, usage->tasks);

	if (max != POLICY_NO_LIMIT)
		process_limit_set(init->processes_max, max);
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
	fit_memory(init, &usage);
	if (!exact && counts_user(init))
		fit_processes(init, &usage);
	usage.user_full = init->user_full;
	for (size_t i = 0; i < USAGE_BUSY_MAX && usage.growths[i].parent != 0; i++)
		usage.growths[i].parent = find_start_number(init, usage.growths[i].parent);
	wire_notify(subreaper->channel, WIRE_MEASURED, &usage);
}

static void kill_victims(const struct init *init, const struct wire_message *message)
{
	const struct usage_paths paths = choose_paths(&init->policy);
	struct usage_killed killed;
	struct usage_kill_request request;

	memcpy(&request, message->payload, sizeof(request));
	for (size_t i = 0; i < USAGE_BUSY_MAX; i++)
		request.busy[i] = init->supervisors[(uint32_t)request.busy[i] % STARTS_KEPT];
	usage_kill(FIRST_OF_SESSION, &request, &paths, &killed);
	wire_notify(init->subreaper.channel, WIRE_VICTIMS_KILLED, &killed);
}

static void set_file_max(struct init *init, const struct wire_message *message)
{
	uint64_t file_max;

	memcpy(&file_max, message->payload, sizeof(file_max));
	file_limit_set(init->file_max, file_max);
	init->file_max = file_max;
}

/* Nothing may go on with other rights than the server expects: a failure ends the sandbox. */
static void seal_shares(struct init *init, bool on)
{
	struct subreaper *subreaper = &init->subreaper;
	struct err err;

	if ((on ? share_seal_set(&init->seal, &init->policy, &err)
		: share_seal_lift(&init->seal, &err)) == 0) {
		wire_notify(subreaper->channel, WIRE_SEALED, NULL);
		return;
	}
	wire_notify(subreaper->channel, WIRE_FAILED, &err);
	subreaper->ended = true;
}

/* Sends the session's own /tmp and /dev/shm, or none. */
static void send_scratch(struct init *init)
{
	cleanup_fd int tmp = -1;
	cleanup_fd int shared = -1;
	struct err err;

	if (is_rooted(&init->policy)) {
		tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		shared = open(ROOTFS_SHARED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (tmp < 0 || shared < 0 ||
	    wire_send(init->subreaper.channel, WIRE_SCRATCH_OPENED, NULL,
		      (const int[WIRE_SCRATCH_FDS]){ tmp, shared }, WIRE_SCRATCH_FDS, &err) < 0)
		wire_notify(init->subreaper.channel, WIRE_SCRATCH_OPENED, NULL);
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

static void add_supervisor(struct init *init, pid_t pid, bool fails_softly)
{
	init->supervisors[++init->starts % STARTS_KEPT] = pid;
	init->fail_softly[init->starts % STARTS_KEPT] = fails_softly;
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
	const bool fails_softly = wire_get_number(message) != 0;
	struct err err;
	pid_t pid;

	begin_processes(init);
	task.plan = message->fds[0];
	task.channel = message->fds[1];
	if (message->fd_count > 2 && init->plan >= 0) {
		pid = fork_from_zygote(&task, init, message->fds[2]);
		if (pid > 0) {
			add_supervisor(init, pid, fails_softly);
			return;
		}
	}
	pid = fork();
	if (pid == 0)
		_exit(supervisor_run(&task));
	if (pid > 0) {
		add_supervisor(init, pid, fails_softly);
		return;
	}
	add_supervisor(init, 0, false);
	(void)err_sys(&err, "forking a supervisor");
	wire_notify(task.channel, WIRE_FAILED, &err);
}

static void on_init_request(struct subreaper *subreaper, const struct wire_message *message)
{
	if (message->type == WIRE_START)
		on_start(subreaper, message);
	else if (message->type == WIRE_MEASURE)
		send_usage(subreaper, wire_get_number(message) != 0);
	else if (message->type == WIRE_KILL_VICTIMS)
		kill_victims(container_of(subreaper, struct init, subreaper), message);
	else if (message->type == WIRE_FILE_MAX)
		set_file_max(container_of(subreaper, struct init, subreaper), message);
	else if (message->type == WIRE_SEAL)
		seal_shares(container_of(subreaper, struct init, subreaper),
			    wire_get_number(message) != 0);
	else if (message->type == WIRE_SCRATCH)
		send_scratch(container_of(subreaper, struct init, subreaper));
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
	init->processes_max = init->policy.processes_max;
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
