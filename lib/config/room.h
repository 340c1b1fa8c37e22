/* SPDX-License-Identifier: MIT */
/* room.h - what the person's own limits (ulimit) leave for sessions. */
#ifndef CONFIG_ROOM_H
#define CONFIG_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/settings.h"

enum {
	ROOM_SESSION_FILES = 24, /* descriptors of a session: 16, and 5 for each more language */
	ROOM_OWN_PART = 8,       /* of all descriptors, which are not sessions' */
	ROOM_OWN_TASKS = 24,     /* processes that sessions have beside their code's */
};

/*
 * Lowers processes_max to what `left` processes and threads leave when ptycell has its own, and
 * says so in the notices: code must not take what its own interpreters need.
 */
void room_limit_processes(struct settings *settings, uint64_t left);
/* Sessions for which `files` descriptors are enough. */
size_t room_sessions(uint64_t files);
/* Whether one more than `sessions` fits where `open` of `files` descriptors are open. */
bool room_for_session(size_t sessions, uint64_t open, uint64_t files);

#endif
