/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/fd.h"
#include "base/mem.h"
#include "proc/internal.h"
#include "sandbox/plan.h"

struct sandbox {
	struct launcher *launcher;
	int channel; /* to its init; -1 once it is known to be dead */
	struct loop_io io;
	struct err err; /* why it failed; ERR_NONE while nobody said */
};

static void stop(struct sandbox *sandbox)
{
	loop_io_stop(&sandbox->io);
	fd_close(&sandbox->channel);
}

/* Init speaks only to say that it failed; its end shows at the interpreters as well. */
static void on_channel(struct loop_io *io, uint32_t events)
{
	struct sandbox *sandbox = container_of(io, struct sandbox, io);
	cleanup_wire struct wire_message message = { 0 };
	struct err err;
	int got = wire_receive(sandbox->channel, &message, &err);

	(void)events;
	if (got < 0 && err.code == ERR_BUSY)
		return;
	if (got == 1 && message.type == WIRE_FAILED)
		wire_get_err(&message, &sandbox->err);
	stop(sandbox);
}

static int seal_policy(const struct policy *policy, struct err *err)
{
	cleanup_buf struct buf plan;

	plan_buf_init(&plan);
	if (plan_write_sandbox(&plan, policy, err) < 0)
		return -1;
	return plan_seal(&plan, err);
}

static int open_sandbox(struct sandbox *sandbox, const struct policy *policy, int workspace_fd,
			struct err *err)
{
	cleanup_fd int plan = seal_policy(policy, err);
	cleanup_fd int theirs = -1;
	int pair[2];

	if (plan < 0 || wire_pair(pair, err) < 0)
		return -1;
	sandbox->channel = pair[0];
	theirs = pair[1];
	if (launcher_request(sandbox->launcher, (int[]){ plan, theirs, workspace_fd }, 3, err) < 0)
		return -1;
	return loop_io_start(launcher_loop(sandbox->launcher), &sandbox->io, sandbox->channel,
			     EPOLLIN, on_channel, err);
}

struct sandbox *sandbox_open(struct launcher *launcher, const struct policy *policy,
			     int workspace_fd)
{
	struct sandbox *sandbox = xcalloc(1, sizeof(*sandbox));

	sandbox->launcher = launcher;
	sandbox->channel = -1;
	if (open_sandbox(sandbox, policy, workspace_fd, &sandbox->err) < 0)
		stop(sandbox);
	return sandbox;
}

void sandbox_close(struct sandbox *sandbox)
{
	if (sandbox == NULL)
		return;
	stop(sandbox);
	free(sandbox);
}

struct loop *sandbox_loop(const struct sandbox *sandbox)
{
	return launcher_loop(sandbox->launcher);
}

bool sandbox_get_err(const struct sandbox *sandbox, struct err *ret_err)
{
	if (sandbox->err.code == ERR_NONE)
		return false;
	*ret_err = sandbox->err;
	return true;
}

int sandbox_request(struct sandbox *sandbox, const int *fds, size_t fd_count, struct err *err)
{
	if (sandbox_get_err(sandbox, err))
		return -1;
	if (sandbox->channel < 0)
		return err_set(err, ERR_SYSTEM, "the session's sandbox has died");
	return wire_send(sandbox->channel, WIRE_START, NULL, fds, fd_count, err);
}
