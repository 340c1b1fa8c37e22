/* SPDX-License-Identifier: MIT */
/*
 * supervisor.c - forks one interpreter, reports its end, and signals or kills its process tree.
 *
 * A supervisor first opens the pty and both ends of each descriptor. The child reports over a
 * close-on-exec pipe: end-of-file means that the exec succeeded. Only then does the server get its
 * ends, with WIRE_STARTED. The end of the channel kills the tree. Session code may set a processor
 * time limit of its own, at which the kernel kills by SIGKILL. Such an end is recognised before the
 * interpreter is reaped, because its limits can be read until then.
 */
#include "sandbox/supervise/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/process/terminal.h"
#include "sandbox/process/ttywait.h"
#include "sandbox/restrict/payload.h"
#include "sandbox/supervise/subreaper.h"
#include "sandbox/wire/plan.h"
#include "sandbox/wire/wire.h"

enum {
	KILL_PAUSE_MS = 2, /* between two rounds of killing */
	IS_INTERPRETER = 1,
};

struct supervisor {
	struct subreaper subreaper;
	pid_t interpreter; /* 0 once it is reaped */
	int report;        /* of the child, until it has exec'd; -1 afterwards */
	bool killing;
	bool forked;              /* the interpreter was forked from a zygote */
	uint64_t cpu_seconds_max; /* at the interpreter's start */
	struct stat slave;
	/*
	 * For the server once the child has exec'd: the pty master, then its ends in the plan's
	 * order.
	 */
	int handover[WIRE_FDS_MAX];
	size_t handover_count;
};

static void send_reply(struct supervisor *supervisor, enum wire_type type, const void *payload)
{
	wire_notify(supervisor->subreaper.channel, type, payload);
}

static void send_number(struct supervisor *supervisor, enum wire_type type, int number)
{
	int32_t payload = number;

	send_reply(supervisor, type, &payload);
}

static void close_ends(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fd_close(&fds[i]);
}

/* ---- starting ---- */

/* Makes both ends of one descriptor of the plan. */
static int make_ends(enum plan_descriptor_kind kind, int *ret_ours, int *ret_theirs,
		     struct err *err)
{
	int pair[2];
	bool ours_first = kind == PLAN_PIPE_OUT || kind == PLAN_PIPE_ASIDE;
	int wait = kind == PLAN_PIPE_ASIDE ? O_NONBLOCK : 0;

	if (kind == PLAN_PACKETS && wire_pair(pair, err) < 0)
		return -1;
	if (kind == PLAN_SOCKET && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "creating a socket");
	if (kind != PLAN_SOCKET && kind != PLAN_PACKETS && pipe2(pair, O_CLOEXEC | wait) < 0)
		return err_sys(err, "creating a pipe");
	*ret_ours = pair[ours_first ? 0 : 1];
	*ret_theirs = pair[ours_first ? 1 : 0];
	return 0;
}

/* Makes terminal and descriptors: the server's ends go to `handover`, the child's to `payload`. */
static int make_descriptors(struct supervisor *supervisor, struct payload *payload, struct err *err)
{
	const struct plan_start *start = payload->start;

	if (terminal_open(start->rows, start->columns, &supervisor->handover[0], &payload->slave,
			  err) < 0)
		return -1;
	supervisor->handover_count = 1;
	if (fstat(payload->slave, &supervisor->slave) < 0)
		return err_sys(err, "looking at a terminal");
	for (size_t i = 0; i < start->descriptor_count; i++) {
		if (make_ends(start->descriptors[i].kind,
			      &supervisor->handover[supervisor->handover_count], &payload->ends[i],
			      err) < 0)
			return -1;
		supervisor->handover_count++;
	}
	return 0;
}

/* Forks the interpreter. Returns IS_INTERPRETER in the child when it does not exec. */
static int fork_payload(struct supervisor *supervisor, struct payload *payload, bool execs,
			struct err *err)
{
	int pipe_ends[2];

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return err_sys(err, "creating a pipe");
	supervisor->report = pipe_ends[0];
	payload->report = pipe_ends[1];
	payload->parent = getpid();
	supervisor->interpreter = fork();
	if (supervisor->interpreter == 0 && execs)
		payload_exec(payload);
	if (supervisor->interpreter == 0) {
		payload_become(payload);
		return IS_INTERPRETER;
	}
	fd_close(&pipe_ends[1]);
	if (supervisor->interpreter < 0) {
		supervisor->interpreter = 0;
		return err_sys(err, "forking an interpreter");
	}
	return 0;
}

static int start_parsed(struct supervisor *supervisor, const struct supervisor_task *task,
			const struct plan_start *start, struct err *err)
{
	struct payload payload = { .start = start,
				   .policy = task->policy,
				   .means = task->means,
				   .workspace = task->workspace,
				   .user_ns = task->user_ns,
				   .slave = -1 };
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(payload.ends); i++)
		payload.ends[i] = -1;
	rc = make_descriptors(supervisor, &payload, err);
	if (rc == 0)
		rc = fork_payload(supervisor, &payload, task->born == NULL, err);
	if (rc == IS_INTERPRETER)
		return rc; /* payload_become closed them; their numbers may be in use again */
	fd_close(&payload.slave);
	close_ends(payload.ends, ARRAY_SIZE(payload.ends));
	return rc;
}

static int start_interpreter(struct supervisor *supervisor, struct supervisor_task *task,
			     struct err *err)
{
	struct plan_start start;
	size_t len = 0;
	const void *plan = plan_map(task->plan, &len, err);
	int rc;

	fd_close(&task->plan);
	if (plan == NULL)
		return -1;
	rc = plan_parse_start(plan, len, &start, err);
	if (rc == 0) {
		rc = start_parsed(supervisor, task, &start, err);
		if (rc == IS_INTERPRETER)
			task->born(&start);
		plan_start_release(&start);
	}
	plan_unmap(plan, len);
	if (rc == IS_INTERPRETER)
		return rc;
	fd_close(&task->workspace);
	fd_close(&task->user_ns);
	return rc;
}

/* Handles the child's report: it has exec'd, or has sent an error. */
static void on_report(struct supervisor *supervisor)
{
	const int32_t forked = supervisor->forked;
	struct err err;

	if (read(supervisor->report, &err, sizeof(err)) == (ssize_t)sizeof(err)) {
		send_reply(supervisor, WIRE_FAILED, &err);
		supervisor->subreaper.ended = true;
	} else if (wire_send(supervisor->subreaper.channel, WIRE_STARTED, &forked,
			     supervisor->handover, supervisor->handover_count, &err) < 0) {
		supervisor->subreaper.ended = true;
	}
	close_ends(supervisor->handover, supervisor->handover_count);
	fd_close(&supervisor->report);
}

/* ---- serving ---- */

static void on_command(struct supervisor *supervisor, const struct wire_message *message)
{
	struct ttywait_result input;

	switch (message->type) {
	case WIRE_SIGNAL:
		proctree_signal(wire_get_number(message));
		break;
	case WIRE_SIGNAL_ONE:
		if (supervisor->interpreter != 0)
			(void)kill(supervisor->interpreter, wire_get_number(message));
		break;
	case WIRE_KILL:
		supervisor->killing = true;
		break;
	case WIRE_COUNT:
		send_number(supervisor, WIRE_COUNTED,
			    (int)proctree_count_live() - (supervisor->interpreter != 0));
		break;
	case WIRE_INPUT:
		input = ttywait_check(&supervisor->slave);
		input.child = input.process != supervisor->interpreter;
		send_reply(supervisor, WIRE_INPUT_STATE, &input);
		break;
	default:
		supervisor->subreaper.ended = true;
	}
}

/*
 * Returns whether the interpreter was killed at a processor time limit that session code had set.
 * Its limits can be read as long as it is not reaped.
 */
static bool ran_out_of_time(const struct supervisor *supervisor)
{
	siginfo_t info = { .si_pid = 0 };
	struct rusage usage = { 0 };
	struct rlimit limit;

	/* The raw system call also returns the usage. */
	if (supervisor->interpreter == 0 ||
	    syscall(SYS_waitid, P_PID, supervisor->interpreter, &info, WEXITED | WNOHANG | WNOWAIT,
		    &usage) < 0 ||
	    info.si_pid == 0 || info.si_code != CLD_KILLED || info.si_status != SIGKILL ||
	    prlimit(supervisor->interpreter, RLIMIT_CPU, NULL, &limit) < 0)
		return false;
	return limit.rlim_max < supervisor->cpu_seconds_max &&
	       (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1) >= limit.rlim_max;
}

/* Reaps all ended children. Returns false when none is left. */
static bool reap_all(struct supervisor *supervisor)
{
	int flags = ran_out_of_time(supervisor) ? WIRE_OUT_OF_TIME : 0;
	int wait_status = 0;
	pid_t pid;

	while ((pid = subreaper_reap(&supervisor->subreaper, &wait_status)) > 0) {
		if (pid != supervisor->interpreter)
			continue;
		supervisor->interpreter = 0;
		if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)
			wait_status |= flags;
		send_number(supervisor, WIRE_EXITED, wait_status);
	}
	return pid == 0;
}

static void serve_interpreter(struct supervisor *supervisor)
{
	while (!supervisor->subreaper.ended) {
		struct subreaper_wake wake =
			subreaper_wait(&supervisor->subreaper, supervisor->report,
				       supervisor->killing ? KILL_PAUSE_MS : -1);
		cleanup_wire struct wire_message message = { 0 };

		/* Handled first, so that a start is reported before its end. */
		if (wake.extra)
			on_report(supervisor);
		if (wake.message && subreaper_receive(&supervisor->subreaper, &message) == 1)
			on_command(supervisor, &message);
		if (supervisor->killing)
			proctree_signal(SIGKILL);
		if ((wake.child || supervisor->killing) && !reap_all(supervisor)) {
			send_reply(supervisor, WIRE_GONE, NULL);
			return;
		}
	}
}

/* Kills and reaps without a reply: the server is gone, or knows. */
static void kill_tree(struct supervisor *supervisor)
{
	int wait_status;
	pid_t pid;

	while ((pid = subreaper_reap(&supervisor->subreaper, &wait_status)) >= 0) {
		if (pid > 0)
			continue;
		proctree_signal(SIGKILL);
		(void)subreaper_wait(&supervisor->subreaper, -1, KILL_PAUSE_MS);
	}
}

/* Closes every inherited descriptor but these, which get new numbers. */
static int keep_supervisor_descriptors(struct supervisor_task *task, struct err *err)
{
	int *kept[4] = { &task->channel, &task->plan };
	size_t count = 2;

	if (task->workspace >= 0)
		kept[count++] = &task->workspace;
	if (task->user_ns >= 0)
		kept[count++] = &task->user_ns;
	return subreaper_close_others(kept, count, err);
}

int supervisor_run(const struct supervisor_task *task)
{
	struct supervisor supervisor = { .report = -1,
					 .forked = task->born != NULL,
					 .cpu_seconds_max = task->policy->cpu_seconds_max };
	struct supervisor_task own = *task;
	struct err err;
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(supervisor.handover); i++)
		supervisor.handover[i] = -1;
	rc = keep_supervisor_descriptors(&own, &err);
	if (rc == 0)
		rc = subreaper_init(&supervisor.subreaper, "ptycell-super", own.channel, own.parent,
				    &err);
	supervisor.subreaper.obeys_parent_only = own.user_ns >= 0;
	if (rc == 0)
		rc = start_interpreter(&supervisor, &own, &err);
	if (rc == IS_INTERPRETER)
		return SUPERVISOR_INTERPRETER;
	if (rc == 0)
		serve_interpreter(&supervisor);
	else
		wire_notify(own.channel, WIRE_FAILED, &err);
	kill_tree(&supervisor);
	return 0;
}
