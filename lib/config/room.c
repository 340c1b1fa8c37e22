/* SPDX-License-Identifier: MIT */
/*
 * room.c - divides descriptors and processes between ptycell and its sessions. RLIMIT_NPROC counts
 * all threads of a user together, so sessions that use it up would stop the server from starting
 * helpers.
 */
#include "config/room.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/schema.h"

void room_limit_processes(struct settings *settings, uint64_t left)
{
	const struct setting *row = schema_find("PTYCELL_PROCESSES_MAX");
	uint64_t own = left / 4 > ROOM_OWN_TASKS ? left / 4 : ROOM_OWN_TASKS;
	uint64_t room = left > own ? left - own : 0;
	char *notices;

	if (settings->limits.processes_max <= room)
		return;
	settings->limits.processes_max = room > row->minimum ? room : row->minimum;
	notices = xasprintf(
		"%s%s is %" PRIu64 " here: this user may have only %" PRIu64
		" more processes and threads (ulimit -u, or its container), and ptycell needs some.\n",
		settings->notices != NULL ? settings->notices : "", row->name,
		settings->limits.processes_max, left);
	free(settings->notices);
	settings->notices = notices;
}

static uint64_t own_files(uint64_t files)
{
	return files / ROOM_OWN_PART;
}

size_t room_sessions(uint64_t files)
{
	return (size_t)((files - own_files(files)) / ROOM_SESSION_FILES);
}

bool room_for_session(size_t sessions, uint64_t open, uint64_t files)
{
	return sessions < room_sessions(files) &&
	       open + ROOM_SESSION_FILES + own_files(files) <= files;
}
