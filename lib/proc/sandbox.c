/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - the channel to the init of one sandbox, and the end of a sandbox.
 *
 * A close has two parts. Init ends the processes when its channel is shut down; it is killed after
 * a grace period, and the supervisors then end theirs. A control group may hold processes a little
 * longer, because the kernel removes dead ones asynchronously, so the group is polled until it can
 * be removed. Only then is `closed` called.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "proc/cgroups.h"
#include "proc/proc_internal.h"
#include "sandbox/namespaces/zygote_namespaces.h"
#include "sandbox/process/usage.h"
#include "sandbox/wire/plan.h"

/*
 * How long init may take to end the sandbox's processes before it is killed. After that others end
 * them, and there is no report of when. On a busy machine init takes more than its own grace for
 * supervisors.
 */
enum { CLOSE_GRACE_MS = 5000 };
/* A killed control group is polled this often, for 5 s together. */
enum { LEAF_PAUSE_MS = 2, LEAF_POLLS_MAX = 2500 };

struct sandbox {
	struct launcher *launcher;
	int channel; /* to init; -1 once init is known to be dead */
	int pidfd;   /* of init; -1 until WIRE_OPENED */
	struct loop_io io;
	struct err err; /* why the sandbox failed; ERR_NONE when no reason was reported */
	int starts;
	bool closing; /* sandbox_close was called; waits for init's end */
	struct list node;
	struct loop_timer grace;        /* while closing: for init's end */
	struct loop_defer closed_defer; /* while closing: calls finish_closing */
	struct cgroup_leaf *leaf;       /* may be NULL */
	struct loop_timer leaf_timer;   /* while closing: until the group is empty */
	unsigned int leaf_polls;
	void (*closed)(void *data);
	void *data;
	const struct sandbox_watcher *watcher; /* may be NULL */
	void *watcher_data;
	void (*listener)(void *data, int listener_own);
	void *listener_data;
	void (*lifted)(void *data); /* of sandbox_lift_seal; or NULL */
	void *lifted_data;
	void (*scratch)(void *data, const int *fds); /* of sandbox_open_scratch; or NULL */
	void *scratch_data;
	unsigned int seals;                               /* requests that init has not answered */
	int zygote_sandbox[ZYGOTE_NAMESPACES_NAMESPACES]; /* -1: not received */
};

static void stop_watching(struct sandbox *sandbox)
{
	loop_io_stop(&sandbox->io);
	loop_timer_stop(&sandbox->grace);
	fd_close(&sandbox->channel);
}

static void free_sandbox(struct sandbox *sandbox)
{
	stop_watching(sandbox);
	loop_timer_stop(&sandbox->leaf_timer);
	loop_defer_stop(&sandbox->closed_defer);
	list_remove(&sandbox->node);
	fd_close(&sandbox->pidfd);
	for (size_t i = 0; i < ZYGOTE_NAMESPACES_NAMESPACES; i++)
		fd_close(&sandbox->zygote_sandbox[i]);
	cgroups_leaf_free(sandbox->leaf);
	free(sandbox);
}

static void on_leaf_timer(struct loop_timer *timer);

/* Kills the rest of the control group. Returns whether it is empty and removed, or given up. */
static bool leaf_is_over(struct sandbox *sandbox)
{
	struct loop *loop = launcher_loop(sandbox->launcher);

	if (sandbox->leaf == NULL || cgroups_leaf_end(sandbox->leaf))
		return true;
	if (++sandbox->leaf_polls > LEAF_POLLS_MAX) {
		log_warn("sandbox", "killed processes do not end: its control group is left");
		return true;
	}
	loop_timer_start(loop, &sandbox->leaf_timer, loop_now(loop) + LEAF_PAUSE_MS, on_leaf_timer);
	return false;
}

static void finish_closing(struct sandbox *sandbox)
{
	void (*closed)(void *data) = sandbox->closed;
	void *data = sandbox->data;

	if (!leaf_is_over(sandbox))
		return;
	free_sandbox(sandbox);
	if (closed != NULL)
		closed(data);
}

static void on_leaf_timer(struct loop_timer *timer)
{
	finish_closing(container_of(timer, struct sandbox, leaf_timer));
}

static void on_closed_defer(struct loop_defer *defer)
{
	finish_closing(container_of(defer, struct sandbox, closed_defer));
}

/* Passes the answer to the last request on. */
static void pass_on_sealed(struct sandbox *sandbox)
{
	void (*fn)(void *data) = sandbox->lifted;

	if (sandbox->seals > 0 && --sandbox->seals > 0)
		return;
	sandbox->lifted = NULL;
	if (fn != NULL)
		fn(sandbox->lifted_data);
}

/* Passes the folders on that were asked for; NULL: there are none. */
static void pass_on_scratch(struct sandbox *sandbox, const int *fds)
{
	void (*fn)(void *data, const int *fds) = sandbox->scratch;

	sandbox->scratch = NULL;
	if (fn != NULL)
		fn(sandbox->scratch_data, fds);
}

/* Marks the sandbox as dead: init has ended, and every process below it. */
static void end_sandbox(struct sandbox *sandbox)
{
	stop_watching(sandbox);
	sandbox->seals = 0;
	pass_on_sealed(sandbox);
	pass_on_scratch(sandbox, NULL);
	if (sandbox->closing)
		loop_defer_start(launcher_loop(sandbox->launcher), &sandbox->closed_defer,
				 on_closed_defer);
}

static bool is_listener(int fd)
{
	int listens = 0;
	int family = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens != 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) == 0 && family == AF_INET;
}

/*
 * Passes the listener on once. The message closes one that no caller waits for, and a second one.
 */
static void pass_on_listener(struct sandbox *sandbox, int *fd)
{
	void (*fn)(void *data, int listener_own) = sandbox->listener;

	sandbox->listener = NULL;
	if (fn != NULL)
		fn(sandbox->listener_data, fd_steal(fd));
}

static void report_usage(const struct sandbox *sandbox, const struct wire_message *message)
{
	struct sandbox_usage reported;
	struct usage usage;

	memcpy(&usage, message->payload, sizeof(usage));
	reported = (struct sandbox_usage){ .memory_bytes = usage.memory_bytes,
					   .cpu_ms = usage.cpu_ms,
					   .unlinked_bytes = usage.unlinked_bytes,
					   .processes = usage.processes,
					   .in_flight = usage.in_flight,
					   .tasks = usage.tasks,
					   .threads = usage.threads,
					   .exact = usage.exact != 0,
					   .user_full = usage.user_full != 0,
					   .programs_bytes = usage.programs_bytes,
					   .shared_bytes = usage.shared_bytes,
					   .written_bytes = usage.written_bytes };
	for (size_t i = 0; i < SANDBOX_GROWTHS_MAX; i++)
		reported.growths[i] =
			(struct sandbox_growth){ .interpreter = usage.growths[i].parent,
						 .bytes = usage.growths[i].bytes };
	sandbox->watcher->measured(sandbox->watcher_data, &reported);
}

static void report_killed(const struct sandbox *sandbox, const struct wire_message *message)
{
	struct sandbox_killed reported = { 0 };
	struct usage_killed killed;

	memcpy(&killed, message->payload, sizeof(killed));
	reported.for_disk = killed.cause == USAGE_DISK;
	reported.memory_bytes = killed.program.memory_bytes;
	reported.written_bytes = killed.program.written.disk;
	reported.programs = killed.programs;
	reported.interpreters = killed.firsts;
	_Static_assert(sizeof(reported.name) == sizeof(killed.program.name), "names fit");
	memcpy(reported.name, killed.program.name, sizeof(reported.name) - 1);
	_Static_assert(sizeof(reported.command) == sizeof(killed.command), "commands fit");
	memcpy(reported.command, killed.command, sizeof(reported.command) - 1);
	sandbox->watcher->killed(sandbox->watcher_data, &reported);
}

static void pass_on_reply(const struct sandbox *sandbox, const struct wire_message *message)
{
	if (sandbox->watcher == NULL)
		return;
	if (message->type == WIRE_MEASURED)
		report_usage(sandbox, message);
	else
		report_killed(sandbox, message);
}

/*
 * Handles a message of init: a result of a request, or the error that ended it. An interpreter sees
 * init's end on its own channel too.
 */
static void on_init_message(struct sandbox *sandbox, struct wire_message *message)
{
	if (message->type == WIRE_OPENED && sandbox->pidfd < 0) {
		sandbox->pidfd = fd_steal(&message->fds[0]);
	} else if (message->type == WIRE_LISTENER && is_listener(message->fds[0])) {
		pass_on_listener(sandbox, &message->fds[0]);
	} else if (message->type == WIRE_ZYGOTE_NAMESPACES && sandbox->zygote_sandbox[0] < 0) {
		for (size_t i = 0; i < ZYGOTE_NAMESPACES_NAMESPACES; i++)
			sandbox->zygote_sandbox[i] = fd_steal(&message->fds[i]);
	} else if (message->type == WIRE_MEASURED || message->type == WIRE_VICTIMS_KILLED) {
		pass_on_reply(sandbox, message);
	} else if (message->type == WIRE_SEALED) {
		pass_on_sealed(sandbox);
	} else if (message->type == WIRE_SCRATCH_OPENED) {
		pass_on_scratch(sandbox,
				message->fd_count == SANDBOX_SCRATCH ? message->fds : NULL);
	} else {
		if (message->type == WIRE_FAILED)
			wire_get_err(message, &sandbox->err);
		end_sandbox(sandbox);
	}
}

/* Takes one message of init, or the end of the channel. Returns false when there is none. */
static bool receive_message(struct sandbox *sandbox)
{
	cleanup_wire struct wire_message message = { 0 };
	struct err err;
	int got;

	if (sandbox->channel < 0)
		return false;
	got = wire_receive(sandbox->channel, &message, &err);
	if (got < 0 && err.code == ERR_BUSY)
		return false;
	if (got == 1) {
		on_init_message(sandbox, &message);
		return true;
	}
	/* No other message explains the end: the launcher may be of another version. */
	if (got == 0 && sandbox->pidfd < 0)
		(void)launcher_differs(sandbox->launcher, &sandbox->err);
	end_sandbox(sandbox);
	return true;
}

static void on_init_channel(struct loop_io *io, uint32_t events)
{
	(void)events;
	(void)receive_message(container_of(io, struct sandbox, io));
}

static int seal_policy(const struct policy *policy, struct err *err)
{
	cleanup_buf struct buf plan;

	plan_buf_init(&plan);
	if (plan_write_sandbox(&plan, policy, err) < 0)
		return -1;
	return plan_seal(&plan, err);
}

/* Lists the descriptors of the policy's folders in the order of sandbox/wire/wire.h. */
static size_t list_folders(const struct policy *policy, const struct sandbox_folders *folders,
			   int *ret_fds)
{
	size_t n = 0;

	ret_fds[n++] = folders->data;
	if (policy->spool_path[0] != '\0')
		ret_fds[n++] = folders->spool;
	if (policy->packages_path[0] != '\0')
		ret_fds[n++] = folders->packages;
	for (size_t i = 0; i < policy->share_count; i++)
		ret_fds[n++] = folders->shares[i];
	for (size_t i = 0; policy->nested && i < ZYGOTE_NAMESPACES_NAMESPACES; i++)
		ret_fds[n++] = folders->zygote_sandbox[i];
	return n;
}

static int make_leaf(struct sandbox *sandbox, const struct sandbox_group *group, struct err *err)
{
	const struct cgroup_limits limits = { .memory_max = group->memory_max,
					      .tasks_max = group->tasks_max };

	sandbox->leaf = cgroups_leaf_new(group->groups, &limits, err);
	return sandbox->leaf != NULL ? 0 : -1;
}

static int request_sandbox(struct sandbox *sandbox, const struct policy *policy,
			   const struct sandbox_folders *folders, const struct sandbox_group *group,
			   struct err *err)
{
	cleanup_fd int plan = seal_policy(policy, err);
	cleanup_fd int theirs = -1;
	int fds[WIRE_SANDBOX_FDS_MAX];
	int pair[2];
	size_t n;

	if (plan < 0 || wire_pair(pair, err) < 0)
		return -1;
	sandbox->channel = pair[0];
	theirs = pair[1];
	fds[WIRE_SANDBOX_PLAN] = plan;
	fds[WIRE_SANDBOX_CHANNEL] = theirs;
	n = WIRE_SANDBOX_DATA + list_folders(policy, folders, fds + WIRE_SANDBOX_DATA);
	if (group != NULL && make_leaf(sandbox, group, err) < 0)
		return -1;
	if (sandbox->leaf != NULL)
		fds[n++] = cgroups_leaf_folder(sandbox->leaf);
	if (launcher_request(sandbox->launcher, WIRE_SANDBOX, fds, n, err) < 0)
		return -1;
	return loop_io_start(launcher_loop(sandbox->launcher), &sandbox->io, sandbox->channel,
			     EPOLLIN, on_init_channel, err);
}

struct sandbox *sandbox_open(struct launcher *launcher, const struct policy *policy,
			     const struct sandbox_folders *folders,
			     const struct sandbox_group *group)
{
	struct sandbox *sandbox = xcalloc(1, sizeof(*sandbox));
	struct policy own = *policy;
	struct err err;

	sandbox->launcher = launcher;
	sandbox->channel = -1;
	sandbox->pidfd = -1;
	for (size_t i = 0; i < ZYGOTE_NAMESPACES_NAMESPACES; i++)
		sandbox->zygote_sandbox[i] = -1;
	list_init(&sandbox->node);
	own.in_group = group != NULL;
	/*
	 * launcher_request may set an error and then succeed with a new launcher: kept only on
	 * failure.
	 */
	if (request_sandbox(sandbox, &own, folders, group, &err) < 0) {
		sandbox->err = err;
		stop_watching(sandbox);
	}
	return sandbox;
}

void sandbox_abandon(struct list *node)
{
	free_sandbox(list_entry(node, struct sandbox, node));
}

/* Init may have been stopped by a signal. Its death makes launcher and supervisors end the rest. */
static void on_close_grace(struct loop_timer *timer)
{
	struct sandbox *sandbox = container_of(timer, struct sandbox, grace);

	if (sandbox->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, sandbox->pidfd, SIGKILL, NULL, 0);
	if (sandbox->leaf != NULL)
		(void)cgroups_leaf_end(sandbox->leaf);
}

void sandbox_close(struct sandbox *sandbox, void (*closed)(void *data), void *data)
{
	struct loop *loop;

	if (sandbox == NULL)
		return;
	loop = launcher_loop(sandbox->launcher);
	sandbox->closing = true;
	sandbox->listener = NULL;
	sandbox->lifted = NULL;
	sandbox->scratch = NULL;
	sandbox->watcher = NULL;
	sandbox->closed = closed;
	sandbox->data = data;
	list_append(launcher_closing(sandbox->launcher), &sandbox->node);
	if (sandbox->channel < 0) {
		end_sandbox(sandbox);
		return;
	}
	/* Init ends at this, which shows here as the channel's end. */
	(void)shutdown(sandbox->channel, SHUT_WR);
	loop_timer_start(loop, &sandbox->grace, loop_now(loop) + CLOSE_GRACE_MS, on_close_grace);
}

void sandbox_watch_listener(struct sandbox *sandbox, void (*fn)(void *data, int listener_own),
			    void *data)
{
	sandbox->listener = fn;
	sandbox->listener_data = data;
}

void sandbox_watch(struct sandbox *sandbox, const struct sandbox_watcher *watcher, void *data)
{
	sandbox->watcher = watcher;
	sandbox->watcher_data = data;
}

void sandbox_measure(struct sandbox *sandbox, bool exact)
{
	const int32_t number = exact;

	if (sandbox->channel >= 0)
		wire_notify(sandbox->channel, WIRE_MEASURE, &number);
}

static void request_kill(const struct sandbox *sandbox, struct usage_kill_request *request,
			 const int *busy, size_t count)
{
	for (; request->busy_count < count && request->busy_count < USAGE_BUSY_MAX;
	     request->busy_count++)
		request->busy[request->busy_count] = busy[request->busy_count];
	if (sandbox->channel >= 0)
		wire_notify(sandbox->channel, WIRE_KILL_VICTIMS, request);
}

void sandbox_kill_for_memory(struct sandbox *sandbox, const struct sandbox_need *need,
			     const int *busy, size_t count)
{
	request_kill(sandbox,
		     &(struct usage_kill_request){ .cause = USAGE_MEMORY,
						   .programs_only = need->programs_only,
						   .memory_max = need->memory_max,
						   .still_max = need->still_max },
		     busy, count);
}

void sandbox_kill_for_disk(struct sandbox *sandbox, const int *busy, size_t count)
{
	request_kill(sandbox, &(struct usage_kill_request){ .cause = USAGE_DISK }, busy, count);
}

void sandbox_set_file_max(struct sandbox *sandbox, uint64_t bytes)
{
	if (sandbox->channel >= 0)
		wire_notify(sandbox->channel, WIRE_FILE_MAX, &bytes);
}

/* A sandbox whose init does not take the request must not run code. */
static void request_seal(struct sandbox *sandbox, bool on)
{
	const int32_t number = on;

	sandbox->seals++;
	if (wire_send(sandbox->channel, WIRE_SEAL, &number, NULL, 0, &sandbox->err) < 0)
		end_sandbox(sandbox);
}

void sandbox_seal(struct sandbox *sandbox)
{
	if (sandbox->channel >= 0)
		request_seal(sandbox, true);
}

bool sandbox_lift_seal(struct sandbox *sandbox, void (*done)(void *data), void *data)
{
	if (sandbox->channel < 0)
		return false;
	sandbox->lifted = done;
	sandbox->lifted_data = data;
	request_seal(sandbox, false);
	return true;
}

bool sandbox_open_scratch(struct sandbox *sandbox, void (*done)(void *data, const int *fds),
			  void *data)
{
	struct err err;

	if (sandbox->channel < 0 ||
	    wire_send(sandbox->channel, WIRE_SCRATCH, NULL, NULL, 0, &err) < 0)
		return false;
	sandbox->scratch = done;
	sandbox->scratch_data = data;
	return true;
}

/*
 * The end may not have been read from the channel yet. Reading it would call callbacks; this does
 * not.
 */
bool sandbox_is_dead(const struct sandbox *sandbox)
{
	struct pollfd channel = { .fd = sandbox->channel };

	return sandbox->channel < 0 ||
	       (poll(&channel, 1, 0) == 1 && (channel.revents & POLLHUP) != 0);
}

const int *sandbox_zygote_namespaces(const struct sandbox *sandbox)
{
	return sandbox->zygote_sandbox[0] >= 0 ? sandbox->zygote_sandbox : NULL;
}

uint64_t sandbox_oom_kills(const struct sandbox *sandbox, uint64_t *ret_limit)
{
	if (sandbox->leaf == NULL)
		return 0;
	*ret_limit = cgroups_leaf_memory_max(sandbox->leaf);
	return cgroups_leaf_oom_kills(sandbox->leaf);
}

struct loop *sandbox_loop(const struct sandbox *sandbox)
{
	return launcher_loop(sandbox->launcher);
}

void sandbox_catch_up(struct sandbox *sandbox)
{
	while (receive_message(sandbox))
		;
}

/* Init's last message may still be unread although the end of another channel has been seen. */
bool sandbox_get_err(struct sandbox *sandbox, struct err *ret_err)
{
	sandbox_catch_up(sandbox);
	if (sandbox->err.code == ERR_NONE)
		return false;
	*ret_err = sandbox->err;
	return true;
}

int sandbox_request(struct sandbox *sandbox, bool fails_softly, const int *fds, size_t fd_count,
		    struct err *err)
{
	const int32_t number = fails_softly ? 1 : 0;

	if (sandbox_get_err(sandbox, err))
		return -1;
	if (sandbox->channel < 0)
		return err_set(err, ERR_SYSTEM, "the session's sandbox has died");
	if (wire_send(sandbox->channel, WIRE_START, &number, fds, fd_count, err) == 0)
		return ++sandbox->starts;
	/* If init died just now, its last message explains more than this error. */
	(void)sandbox_get_err(sandbox, err);
	return -1;
}
