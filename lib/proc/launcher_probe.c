/* SPDX-License-Identifier: MIT */
/*
 * launcher_probe.c - one probe of the machine, from its request to its report.
 *
 * The launcher forks a child for a probe and hands it the channel of the answer. A server without a
 * launcher starts one first. The end of the channel without a report means that the probe died, or
 * that the launcher is of another version.
 */
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/fd.h"
#include "base/mem.h"
#include "proc/proc_internal.h"

/* A probe builds a few sandboxes, which takes milliseconds on a machine that responds at all. */
enum { PROBE_TIMEOUT_MS = 10000 };

struct probe {
	struct launcher *launcher;
	int channel;
	struct loop_io io;
	struct loop_timer deadline;
	struct loop_defer failed_defer; /* for a request that failed at once */
	struct list node;
	launcher_probe_fn *done;
	void *data;
	struct err err;
};

static void free_probe(struct probe *probe)
{
	loop_io_stop(&probe->io);
	loop_timer_stop(&probe->deadline);
	loop_defer_stop(&probe->failed_defer);
	list_remove(&probe->node);
	fd_close(&probe->channel);
	free(probe);
}

void launcher_probe_abandon(struct list *node)
{
	free_probe(list_entry(node, struct probe, node));
}

/* Frees the probe before it calls `done`, which may free the launcher. */
static void answer_probe(struct probe *probe, const struct sandbox_report *report)
{
	launcher_probe_fn *done = probe->done;
	void *data = probe->data;
	struct err err = probe->err;

	free_probe(probe);
	done(data, report, report == NULL ? &err : NULL);
}

static void on_failed_defer(struct loop_defer *defer)
{
	answer_probe(container_of(defer, struct probe, failed_defer), NULL);
}

static void on_deadline(struct loop_timer *timer)
{
	struct probe *probe = container_of(timer, struct probe, deadline);

	(void)err_set(&probe->err, ERR_TIMEOUT, "looking at what confines sessions took over %d s",
		      PROBE_TIMEOUT_MS / 1000);
	answer_probe(probe, NULL);
}

static void on_probe_channel(struct loop_io *io, uint32_t events)
{
	struct probe *probe = container_of(io, struct probe, io);
	cleanup_wire struct wire_message message = { 0 };
	struct sandbox_report report;
	int got = wire_receive(probe->channel, &message, &probe->err);

	(void)events;
	if (got < 0 && probe->err.code == ERR_BUSY)
		return;
	if (got == 1 && message.type == WIRE_REPORT &&
	    wire_get_report(&message, &report, &probe->err) == 0) {
		answer_probe(probe, &report);
		return;
	}
	if (got == 1 && message.type == WIRE_FAILED)
		wire_get_err(&message, &probe->err);
	else if (got == 0 && !launcher_differs(probe->launcher, &probe->err))
		(void)err_set(&probe->err, ERR_SYSTEM,
			      "the process that looks at what confines sessions has died");
	answer_probe(probe, NULL);
}

static int send_probe(struct probe *probe, struct err *err)
{
	struct loop *loop = launcher_loop(probe->launcher);
	cleanup_fd int theirs = -1;
	int pair[2];

	if (wire_pair(pair, err) < 0)
		return -1;
	probe->channel = pair[0];
	theirs = pair[1];
	if (launcher_request(probe->launcher, WIRE_PROBE, &theirs, 1, err) < 0 ||
	    loop_io_start(loop, &probe->io, probe->channel, EPOLLIN, on_probe_channel, err) < 0)
		return -1;
	loop_timer_start(loop, &probe->deadline, loop_now(loop) + PROBE_TIMEOUT_MS, on_deadline);
	return 0;
}

void launcher_probe(struct launcher *launcher, launcher_probe_fn *done, void *data)
{
	struct probe *probe = xcalloc(1, sizeof(*probe));

	probe->launcher = launcher;
	probe->channel = -1;
	probe->done = done;
	probe->data = data;
	list_init(&probe->node);
	list_append(launcher_probes(launcher), &probe->node);
	if (send_probe(probe, &probe->err) < 0)
		loop_defer_start(launcher_loop(launcher), &probe->failed_defer, on_failed_defer);
}
