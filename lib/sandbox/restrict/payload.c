/* SPDX-License-Identifier: MIT */
/*
 * payload.c - turns a forked child into the interpreter: terminal, descriptors, limits, privileges,
 * exec.
 *
 * The order matters. Descriptors are moved while all are known. Limits are set before privileges
 * are dropped, because a process without them could not lower some. The second user namespace comes
 * before the filters, since joining it needs capabilities and gives new ones. A core dump limit of
 * 0 does not stop a host that pipes dumps to a program, but 1 does (core(5)).
 */
#include "sandbox/restrict/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/util.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/restrict/privdrop.h"

enum {
	EXIT_NOT_STARTED = 127,
	LOCKED_BYTES = 1 << 20,
	PENDING_SIGNALS = 256,
	NICENESS = 5,
	/* How many more the user's other processes may become while the interpreter lives. */
	PROCESSES_ROOM = 2048,
};

static int bind_life(const struct payload *payload, struct err *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(err, "tying the interpreter to its supervisor");
	if (getppid() != payload->parent)
		_exit(EXIT_NOT_STARTED);
	return 0;
}

int payload_take_terminal(const struct payload *payload, struct err *err)
{
	if (setsid() < 0)
		return err_sys(err, "starting a session");
	if (ioctl(payload->slave, TIOCSCTTY, 0) < 0)
		return err_sys(err, "taking the terminal");
	return 0;
}

/* Replaces *fd by a close-on-exec duplicate above every number that a plan can name. */
static int move_up(int *fd, struct err *err)
{
	int copy = fcntl(*fd, F_DUPFD_CLOEXEC, PLAN_DESCRIPTOR_NUMBER_MAX + 1);

	if (copy < 0)
		return err_sys(err, "moving a descriptor");
	*fd = copy;
	return 0;
}

/*
 * Puts `count` descriptors at `numbers`, and marks all others from 3 on as close-on-exec. All are
 * duplicated above the numbers first, so that none is overwritten before its turn.
 */
static int place_all(int *fds, const int *numbers, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (move_up(&fds[i], err) < 0)
			return -1;
	if (fd_mark_from(STDERR_FILENO + 1) < 0)
		return err_sys(err, "closing descriptors");
	for (size_t i = 0; i < count; i++)
		if (dup2(fds[i], numbers[i]) < 0)
			return err_sys(err, "placing descriptor %d", numbers[i]);
	return 0;
}

static int place_plan_descriptors(struct payload *payload, struct err *err)
{
	const struct plan_start *start = payload->start;
	int fds[3 + PLAN_DESCRIPTORS_MAX];
	int numbers[3 + PLAN_DESCRIPTORS_MAX];
	size_t count = 0;

	/* These are used later, so they must not occupy the plan's numbers. */
	if (move_up(&payload->report, err) < 0 ||
	    (payload->workspace >= 0 && move_up(&payload->workspace, err) < 0) ||
	    (payload->user_ns >= 0 && move_up(&payload->user_ns, err) < 0))
		return -1;
	for (; count < 3; count++) {
		fds[count] = payload->slave;
		numbers[count] = (int)count;
	}
	/* A later entry wins: a plan may replace standard input. */
	for (size_t i = 0; i < start->descriptor_count; i++, count++) {
		fds[count] = payload->ends[i];
		numbers[count] = start->descriptors[i].number;
	}
	return place_all(fds, numbers, count, err);
}

struct limit_row {
	__rlimit_resource_t resource;
	uint64_t soft;
	uint64_t hard;
	const char *name;
};

static int set_limit(const struct limit_row *row, struct err *err)
{
	struct rlimit now;
	struct rlimit new;

	if (row->hard == POLICY_NO_LIMIT)
		return 0;
	if (getrlimit(row->resource, &now) < 0)
		return err_sys(err, "reading the limit of %s", row->name);
	/* Limits are never raised: the server's own limit is the maximum. */
	new.rlim_max = row->hard < now.rlim_max ? row->hard : now.rlim_max;
	new.rlim_cur = row->soft < new.rlim_max ? row->soft : new.rlim_max;
	if (setrlimit(row->resource, &new) < 0)
		return err_sys(err, "limiting %s", row->name);
	return 0;
}

static int set_all_limits(const struct limit_row *rows, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (set_limit(&rows[i], err) < 0)
			return -1;
	return 0;
}

/*
 * In tier landlock all processes of the user count, and init changes the soft limit as their number
 * changes. The hard limit bounds code that raises it.
 */
static uint64_t most_processes(const struct policy *policy)
{
	uint64_t max = policy->processes_max;

	return policy->tier == POLICY_LANDLOCK && max != POLICY_NO_LIMIT ? max + PROCESSES_ROOM
									 : max;
}

static int set_limits(const struct policy *policy, struct err *err)
{
	const struct limit_row limits[] = {
		/* With 0 a dump would still be piped to the host's handler, with all memory. */
		{ RLIMIT_CORE, 1, 1, "core dumps" },
		{ RLIMIT_NOFILE, policy->open_files_max, policy->open_files_max, "open files" },
		{ RLIMIT_FSIZE, policy->file_max, policy->file_max, "file size" },
		/* Not RLIMIT_AS: Node reserves far more than it uses. */
		{ RLIMIT_DATA, policy->memory_max, policy->memory_max, "memory" },
		{ RLIMIT_NPROC, policy->processes_max, most_processes(policy), "processes" },
		{ RLIMIT_CPU, policy->cpu_seconds_max, policy->cpu_seconds_max, "CPU time" },
	};
	const struct limit_row confined[] = {
		{ RLIMIT_MEMLOCK, LOCKED_BYTES, LOCKED_BYTES, "locked memory" },
		/* kernel memory that no other limit counts */
		{ RLIMIT_MSGQUEUE, 0, 0, "message queues" },
		{ RLIMIT_SIGPENDING, PENDING_SIGNALS, PENDING_SIGNALS, "pending signals" },
	};

	if (set_all_limits(limits, ARRAY_SIZE(limits), err) < 0)
		return -1;
	if (policy->tier == POLICY_UNCONFINED)
		return 0;
	/* The user's own programs have priority. */
	(void)setpriority(PRIO_PROCESS, 0, NICENESS);
	return set_all_limits(confined, ARRAY_SIZE(confined), err);
}

static int enter_folder(const struct payload *payload, struct err *err)
{
	const char *cwd = payload->start->cwd;

	if (cwd[0] == '\0' && payload->workspace >= 0)
		return fchdir(payload->workspace) < 0 ? err_sys(err, "entering the workspace") : 0;
	if (cwd[0] == '\0')
		cwd = POLICY_DATA;
	return chdir(cwd) < 0 ? err_sys(err, "entering '%s'", cwd) : 0;
}

/* The filters may forbid calls that set up the others, so they come last. */
int payload_drop_privileges(const struct payload *payload, struct err *err)
{
	if (set_limits(payload->policy, err) < 0)
		return -1;
	if (payload->user_ns >= 0 &&
	    (namespaces_join_inner(payload->user_ns, err) < 0 || bind_life(payload, err) < 0))
		return -1;
	return privdrop_apply(payload->policy, payload->workspace, payload->means, err);
}

/* Does everything up to the exec. */
static int prepare_process(struct payload *own, struct err *err)
{
	if (bind_life(own, err) < 0 || payload_take_terminal(own, err) < 0 ||
	    place_plan_descriptors(own, err) < 0 || payload_drop_privileges(own, err) < 0)
		return -1;
	return enter_folder(own, err);
}

/*
 * A program learns by the error of its call that a file is too large, as it does for a full disk.
 */
static void set_signals(void)
{
	sigset_t none;

	(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int exec_program(const struct plan_start *start, struct err *err)
{
	const char *why;

	set_signals();
	(void)execve(start->argv[0], start->argv, start->envp);
	why = errno == EACCES ? ", to which the session's user must have access" : "";
	return err_sys(err, "starting '%s'%s", start->argv[0], why);
}

noreturn void payload_exec(const struct payload *payload)
{
	struct payload own = *payload;
	struct err err = { 0 };

	if (prepare_process(&own, &err) == 0)
		(void)exec_program(own.start, &err);
	(void)!write(own.report, &err, sizeof(err));
	_exit(EXIT_NOT_STARTED);
}

static bool is_of_plan(const struct plan_start *start, int fd)
{
	for (size_t i = 0; i < start->descriptor_count; i++)
		if (start->descriptors[i].number == fd)
			return true;
	return false;
}

/*
 * Does what exec would do: process name, close-on-exec descriptors, dumpable flag. The flag comes
 * last, because a sibling with the same user could take descriptors that are still open. The end of
 * the report pipe means success.
 */
static int finish_like_exec(const struct payload *own, struct err *err)
{
	if (prctl(PR_SET_NAME, path_base(own->start->argv[0])) < 0)
		return err_sys(err, "becoming an interpreter");
	for (int fd = STDERR_FILENO + 1; fd <= PLAN_DESCRIPTOR_NUMBER_MAX; fd++)
		if (!is_of_plan(own->start, fd))
			(void)close(fd);
	if (fd_close_from(PLAN_DESCRIPTOR_NUMBER_MAX + 1) < 0)
		return err_sys(err, "closing descriptors");
	(void)prctl(PR_SET_DUMPABLE, 1UL);
	set_signals();
	return 0;
}

void payload_become(const struct payload *payload)
{
	struct payload own = *payload;
	struct err err = { 0 };

	if (prepare_process(&own, &err) == 0 && finish_like_exec(&own, &err) == 0)
		return;
	(void)!write(own.report, &err, sizeof(err));
	_exit(EXIT_NOT_STARTED);
}
