/* SPDX-License-Identifier: MIT */
/*
 * room.c - divides descriptors and processes between ptycell and its sessions. RLIMIT_NPROC counts
 * all threads of a user together, so sessions that use it up would stop the server from starting
 * helpers. Other limits of the user hold for each process, and sessions inherit them.
 */
#include "config/room.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "config/schema.h"

/*
 * A process is killed at the limit of processor time: a sixteenth of it, or 5 s, are left for cells
 * that save what is needed.
 */
enum { CPU_PART = 16, CPU_LEFT_S = 5 };

static const struct {
	const char *key;     /* of the session's limit */
	const char *setting; /* of the server's; the key where there is none */
	const char *option;  /* of ulimit */
	const char *what;
} ulimits[] = {
	[ROOM_ULIMIT_FILE] = { "file_max", "PTYCELL_FILE_MAX", "-f", "the size of a file" },
	[ROOM_ULIMIT_DATA] = { "memory_max", "PTYCELL_MEMORY_MAX", "-d", "the data of a process" },
	[ROOM_ULIMIT_ADDRESS] = { "memory_max", "PTYCELL_MEMORY_MAX", "-v",
				  "the address space of a process" },
	[ROOM_ULIMIT_CPU] = { "cpu_max", "cpu_max", "-t", "the processor time of a process" },
	[ROOM_ULIMIT_TASKS] = { "processes_max", "PTYCELL_PROCESSES_MAX", "-u, or its container",
				"the processes and threads of the user" },
};

static void add_notice(struct settings *settings, const char *text)
{
	char *notices = xasprintf("%s%s", settings->notices != NULL ? settings->notices : "", text);

	free(settings->notices);
	settings->notices = notices;
}

void room_limit_processes(struct settings *settings, uint64_t left)
{
	const struct setting *row = schema_find("PTYCELL_PROCESSES_MAX");
	uint64_t own = left / 4 > ROOM_OWN_TASKS ? left / 4 : ROOM_OWN_TASKS;
	uint64_t room = left > own ? left - own : 0;
	cleanup_free char *text = NULL;

	if (settings->limits.processes_max <= room)
		return;
	settings->limits.processes_max = room > row->minimum ? room : row->minimum;
	settings->limits.ulimits |= BIT(ROOM_ULIMIT_TASKS);
	text = xasprintf("%s is %" PRIu64 " here: this user may have only %" PRIu64
			 " more processes and threads (ulimit -u, or its container), and ptycell "
			 "needs some.\n",
			 row->name, settings->limits.processes_max, left);
	add_notice(settings, text);
}

static void lower(struct settings *settings, enum room_ulimit which, uint64_t *limit, uint64_t room)
{
	cleanup_free char *text = NULL;

	if (*limit <= room)
		return;
	*limit = room;
	settings->limits.ulimits |= BIT(which);
	text = xasprintf("%s is %" PRIu64 " here: ptycell was started with a limit of %s (ulimit "
			 "%s), which holds for its sessions, too. Raise that where ptycell is "
			 "started.\n",
			 ulimits[which].setting, room, ulimits[which].what, ulimits[which].option);
	add_notice(settings, text);
}

static uint64_t cpu_room(uint64_t hard)
{
	uint64_t left = hard / CPU_PART > CPU_LEFT_S ? hard / CPU_PART : CPU_LEFT_S;

	if (hard == UINT64_MAX)
		return hard;
	return hard > 2 * left ? hard - left : (hard + 1) / 2;
}

void room_limit_by_ulimits(struct settings *settings, const uint64_t hard[ROOM_ULIMITS])
{
	struct session_limits *limits = &settings->limits;

	lower(settings, ROOM_ULIMIT_FILE, &limits->file_max, hard[ROOM_ULIMIT_FILE]);
	lower(settings, ROOM_ULIMIT_DATA, &limits->memory_max, hard[ROOM_ULIMIT_DATA]);
	lower(settings, ROOM_ULIMIT_ADDRESS, &limits->memory_max, hard[ROOM_ULIMIT_ADDRESS]);
	lower(settings, ROOM_ULIMIT_CPU, &limits->cpu_max, cpu_room(hard[ROOM_ULIMIT_CPU]));
}

uint64_t room_ulimits_of(const char *key)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < ROOM_ULIMITS; i++)
		if (str_eq(ulimits[i].key, key))
			bits |= BIT(i);
	return bits;
}

void room_explain_ulimits(const struct session_limits *limits, const char *text, struct buf *out)
{
	cleanup_free char *named = xstrdup(text); /* it may be in `out` */

	for (unsigned i = 0; i < ROOM_ULIMITS; i++) {
		cleanup_free char *name = xasprintf("(%s", ulimits[i].key);

		if ((limits->ulimits & BIT(i)) != 0 && strstr(named, name) != NULL)
			buf_putf(
				out,
				"%s is so low because the user's own limit of %s (ulimit %s) was in "
				"force when ptycell was started: the user can raise that.\n",
				ulimits[i].key, ulimits[i].what, ulimits[i].option);
	}
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
