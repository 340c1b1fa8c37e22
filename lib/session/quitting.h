/* SPDX-License-Identifier: MIT */
/*
 * quitting.h - waits for interpreters of a session that end by themselves (runner_quit).
 *
 * One that does not end gets a SIGINT when half of its time is over, as a user would send one to
 * code that hangs at its end.
 */
#ifndef SESSION_QUITTING_H
#define SESSION_QUITTING_H

#include <stdbool.h>
#include <stdint.h>

#include "event/loop.h"

struct runner;
struct session;

/* Zeros are one that does not wait. The first three members are set before quitting_begin. */
struct quitting {
	struct session *session;
	/* An interpreter was stopped, or killed, while it ended; `how` has no full stop. */
	void (*cut)(struct session *session, struct runner *runner, const char *how);
	/* All have ended, or have taken too long. Called from the loop. */
	void (*over)(struct session *session);

	struct loop_timer timer;
	struct loop_defer step;
	uint64_t end_ms;
	bool interrupted; /* they got a SIGINT */
};

/* Waits for at most `ms`. Each runner was asked. */
void quitting_begin(struct quitting *quitting, uint64_t ms);
/* Gives them no more than `ms` from now on. */
void quitting_hurry(struct quitting *quitting, uint64_t ms);
/* Notes that an interpreter has ended: handles `lost` of struct runner_handlers. */
void quitting_note_end(struct quitting *quitting, struct runner *runner, const char *why);
/* Reports those that are still there, unless that was done when they got a SIGINT. */
void quitting_report_left(const struct quitting *quitting);
/* Waits no more: `over` is not called. */
void quitting_stop(struct quitting *quitting);

#endif
