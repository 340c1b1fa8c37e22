/* SPDX-License-Identifier: MIT */
/*
 * zygote.c - forks sessions' interpreters from the process that it is loaded into.
 *
 * A plain fork for each step would copy the pages of a large zygote again and again. Two processes
 * are therefore made by vfork, which shares memory while the parent is suspended: one joins the
 * namespaces, one is born in the pid namespace. Only the supervisor and the interpreter are real
 * forks. The interpreter later returns to the driver through the same stack frames, on its own copy
 * of the stack.
 */
#include "sandbox/supervise/zygote.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/namespaces/namespaces.h"
#include "sandbox/namespaces/uid_map.h"
#include "sandbox/supervise/supervisor.h"
#include "sandbox/wire/plan.h"
#include "sandbox/wire/wire.h"

enum { LINKS_OF_ONE_THREAD = 3 /* of /proc/self/task: itself, its name, the thread */ };

static bool has_threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) < 0 || st.st_nlink != LINKS_OF_ONE_THREAD;
}

/*
 * Returns whether a forked session would share writable memory with the zygote and other sessions.
 */
static bool shares_memory(void)
{
	enum { WRITE = 2, SHARED = 4, RIGHTS = 5 }; /* in " rw-s" */
	FILE *maps = fopen("/proc/self/maps", "re");
	bool shares = maps == NULL;
	char *line = NULL;
	size_t size = 0;

	while (!shares && getline(&line, &size, maps) > 0) {
		const char *rights = strchr(line, ' ');

		shares = rights == NULL || strnlen(rights, RIGHTS) < RIGHTS ||
			 (rights[WRITE] == 'w' && rights[SHARED] == 's');
	}
	free(line);
	if (maps != NULL)
		(void)fclose(maps);
	return shares;
}

/* Reports over the channel to the server, which logs a warning. */
static void report_refusal(int channel, const char *why)
{
	struct err err = { 0 };

	(void)err_set(&err, ERR_UNSUPPORTED, "%s", why);
	wire_notify(channel, WIRE_FAILED, &err);
}

static bool refuses_threads(int channel)
{
	if (!has_threads())
		return false;
	report_refusal(channel, "a module that was imported ahead began a thread");
	return true;
}

int zygote_may_serve(int channel)
{
	if (refuses_threads(channel))
		return 0;
	if (!shares_memory())
		return 1;
	report_refusal(channel, "a module that was imported ahead shares memory with its copies");
	return 0;
}

/* ---- the forked session ---- */

/* Replaces the zygote's environment. The strings are copied, because the plan is unmapped later. */
static void take_environment(const struct plan_start *start)
{
	(void)clearenv();
	for (size_t i = 0; start->envp[i] != NULL; i++) {
		char *variable = strdup(start->envp[i]);

		if (variable == NULL || putenv(variable) != 0)
			_exit(EXIT_FAILURE);
	}
}

/*
 * Leaves the zygote's terminal and becomes user 0 of the session's first user namespace, as init
 * is.
 */
static int leave_zygote(void)
{
	struct err err;
	int null;

	if (geteuid() != 0 && uid_map_become(0, 0, &err) < 0)
		return -1;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return -1;
	return setsid() < 0 ? -1 : 0;
}

static int run_supervisor(struct wire_message *message)
{
	struct supervisor_task task = {
		.channel = message->fds[WIRE_FORK_CHANNEL],
		.plan = message->fds[WIRE_FORK_PLAN],
		.workspace = -1,
		.user_ns = message->fds[WIRE_FORK_USER_NS],
		.means = &privdrop_whole,
		.parent = 1,
		.born = take_environment,
	};
	struct policy policy;
	struct err err;
	size_t len = 0;
	const void *plan = plan_map(message->fds[WIRE_FORK_POLICY], &len, &err);
	int rc = -1;

	task.policy = &policy;
	message->fd_count = 0; /* supervisor_run closes all descriptors itself */
	if (plan != NULL && plan_parse_sandbox(plan, len, &policy, &err) == 0 &&
	    leave_zygote() == 0) {
		policy.own_inodes = wire_get_number(message) != 0;
		rc = supervisor_run(&task);
	}
	if (rc != SUPERVISOR_INTERPRETER)
		_exit(rc < 0 ? EXIT_FAILURE : rc);
	plan_unmap(plan, len);
	return ZYGOTE_INTERPRETER;
}

/*
 * Waits until init has taken this process over. By then the process that forked it is certainly
 * gone; otherwise its death would count as the parent's.
 */
static void await_release(int report)
{
	char byte;

	if (read(report, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
}

/* ---- the zygote ---- */

/*
 * Runs in a vfork child, which shares the zygote's memory. The forked session returns
 * ZYGOTE_INTERPRETER through these frames, on its own copy of the stack. Every other process exits
 * here.
 */
static int fork_in_session(struct wire_message *message, volatile int32_t *ret_pid)
{
	const int report = message->fds[WIRE_FORK_REPORT];
	pid_t pid = vfork(); /* NOLINT: its child is in the pid namespace, and no page is copied */

	if (pid == 0) {
		pid = fork(); /* NOLINT: the first fork that copies pages */
		if (pid == 0) {
			await_release(report);
			return run_supervisor(message);
		}
		*ret_pid = pid;
		_exit(EXIT_SUCCESS);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	if (*ret_pid > 0) {
		const int32_t supervisor = *ret_pid;

		(void)!write(report, &supervisor, sizeof(supervisor));
	}
	_exit(EXIT_SUCCESS);
}

static int join_and_fork(int channel, struct wire_message *message)
{
	volatile int32_t supervisor = 0;
	struct err err = { 0 };
	pid_t pid;

	(void)err_set(&err, ERR_SYSTEM, "forking a copy");
	pid = vfork(); /* NOLINT: as above */
	if (pid == 0) {
		/* NOLINTNEXTLINE: it writes in this frame, which is suspended meanwhile */
		if (namespaces_join(message->fds + WIRE_FORK_NAMESPACES, &err) < 0)
			_exit(EXIT_FAILURE);
		return fork_in_session(message, &supervisor);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	if (supervisor <= 0)
		wire_notify(channel, WIRE_FAILED, &err);
	return ZYGOTE_OVER;
}

static void call_hook(void (*hook)(void))
{
	if (hook != NULL)
		hook();
}

/* Returns ZYGOTE_OVER in the zygote, even when the fork failed: init notices that. */
static int serve_fork(int channel, struct wire_message *message, const struct zygote_hooks *hooks)
{
	int outcome;

	call_hook(hooks->before);
	outcome = join_and_fork(channel, message);
	if (outcome == ZYGOTE_INTERPRETER)
		call_hook(hooks->after_in_child);
	else
		call_hook(hooks->after_in_parent);
	return outcome;
}

enum zygote_outcome zygote_serve(int channel, int wanted, const struct zygote_hooks *hooks)
{
	struct pollfd inputs[] = { { .fd = channel, .events = POLLIN },
				   { .fd = wanted, .events = POLLIN } };

	(void)prctl(PR_SET_DUMPABLE, 0UL);
	for (;;) {
		cleanup_wire struct wire_message message = { 0 };
		struct err err;
		int got;

		if (poll(inputs, ARRAY_SIZE(inputs), -1) < 0)
			continue;
		if (inputs[0].revents == 0)
			return ZYGOTE_WANTED;
		got = wire_receive(channel, &message, &err);
		if (got < 0 && err.code == ERR_BUSY)
			continue;
		if (got != 1 || message.type != WIRE_FORK)
			return ZYGOTE_OVER;
		if (refuses_threads(channel))
			return ZYGOTE_THREADS;
		if (serve_fork(channel, &message, hooks) == ZYGOTE_INTERPRETER)
			return ZYGOTE_INTERPRETER;
	}
}

/* ---- Python ---- */

static void (*find_python_function(const char *name))(void)
{
	void (*function)(void) = NULL;
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(&function, &found, sizeof(function));
	return function;
}

int zygote_serve_python(int channel, int wanted)
{
	const struct zygote_hooks hooks = {
		.before = find_python_function("PyOS_BeforeFork"),
		.after_in_parent = find_python_function("PyOS_AfterFork_Parent"),
		.after_in_child = find_python_function("PyOS_AfterFork_Child"),
	};

	if (hooks.before == NULL || hooks.after_in_parent == NULL || hooks.after_in_child == NULL)
		return ZYGOTE_OVER;
	return (int)zygote_serve(channel, wanted, &hooks);
}

const char *zygote_variable(size_t index)
{
	return environ[index];
}
