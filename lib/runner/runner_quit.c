/* SPDX-License-Identifier: MIT */
/*
 * runner_quit.c - has an interpreter end by itself, as at a terminal. Its driver gets `quit` behind
 * what it was asked before, and runs what session code registered for the end. It gets no cell and
 * no question any more.
 */
#include <signal.h>

#include "runner/runner_internal.h"

bool runner_quit(struct runner *r)
{
	if (r->state != RUNNER_READY || runner_channel_closed(r))
		return false;
	while (!list_empty(&r->queue))
		runner_withdraw(list_entry(r->queue.next, struct queued_cell, node), NULL);
	r->children_counted = NULL; /* `done` must not be called any more */
	runner_save_interrupt(r);   /* `quit` is read after it */
	runner_save_fail(r, "the session ended");
	runner_end_query(r, NULL, "the session ended");
	r->quits = true;
	frame_begin(&r->to_driver, "quit", 0, 0);
	runner_flush(r);
	return true;
}

bool runner_quits(const struct runner *r)
{
	return r->quits && r->state == RUNNER_READY;
}

bool runner_exited(const struct runner *r)
{
	return r->exited;
}

void runner_interrupt_quit(struct runner *r)
{
	if (runner_quits(r))
		interpreter_signal_foreground(r->interpreter, SIGINT);
}
