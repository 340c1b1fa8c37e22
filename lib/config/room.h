/* SPDX-License-Identifier: MIT */
/* room.h - the sessions and processes that the user's own limits (ulimit) leave room for. */
#ifndef CONFIG_ROOM_H
#define CONFIG_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/settings.h"

enum {
	ROOM_SESSION_FILES = 24, /* descriptors of a session: 16, and 5 for each further language */
	ROOM_OWN_PART = 8,       /* an eighth of all descriptors is not for sessions */
	ROOM_OWN_TASKS = 24,     /* processes that a session has besides those of its code */
};

/*
 * Lowers processes_max so that ptycell itself has enough of the `left` processes and threads, and
 * adds a notice. Session code must not take what its own interpreters need.
 */
void room_limit_processes(struct settings *settings, uint64_t left);
/* Returns the number of sessions for which `files` descriptors suffice. */
size_t room_sessions(uint64_t files);
/* Returns whether one more than `sessions` fits if `open` of `files` descriptors are open. */
bool room_for_session(size_t sessions, uint64_t open, uint64_t files);

#endif
