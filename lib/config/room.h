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
/* The user's own limits (ulimit) that sessions cannot exceed. */
enum room_ulimit {
	ROOM_ULIMIT_FILE,
	ROOM_ULIMIT_DATA,
	ROOM_ULIMIT_ADDRESS,
	ROOM_ULIMIT_CPU,
	ROOM_ULIMIT_TASKS,
	ROOM_ULIMITS
};

/*
 * Lowers the limits of sessions to those with which ptycell was started, and adds a notice for
 * each. `hard` has the hard limits in bytes and seconds, UINT64_MAX for none. The one of
 * ROOM_ULIMIT_TASKS is not used: see room_limit_processes.
 */
void room_limit_by_ulimits(struct settings *settings, const uint64_t hard[ROOM_ULIMITS]);
/* Returns the BITs of the user's limits that may lower the session's limit of this key. */
uint64_t room_ulimits_of(const char *key);
/* Appends the user's limits behind the limits of sessions that `text` names, as in "(file_max". */
void room_explain_ulimits(const struct session_limits *limits, const char *text, struct buf *out);
/* Returns the number of sessions for which `files` descriptors suffice. */
size_t room_sessions(uint64_t files);
/* Returns whether one more than `sessions` fits if `open` of `files` descriptors are open. */
bool room_for_session(size_t sessions, uint64_t open, uint64_t files);

#endif
