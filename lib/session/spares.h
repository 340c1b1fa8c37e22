/* SPDX-License-Identifier: MIT */
/*
 * spares.h - sandboxes that wait for sessions to come: when they are made, and how many.
 *
 * Of the first language from the first session on, of any other from its first use on, as many as
 * PTYCELL_SPARES says, for SPARES_WANTED_MS after the last session that could have had one. They
 * are made when nothing happens, so that nobody waits for them: the first one only after the first
 * answer, and what one imports is stopped as soon as a cell begins. Whoever comes while there is
 * none starts as ever. Imports cost each session that gets them some 70 MB: there are none while
 * less than a quarter of the machine's memory is free, and all is dropped when memory runs short.
 */
#ifndef SESSION_SPARES_H
#define SESSION_SPARES_H

#include "session/session.h"

struct spare;
struct spares;

enum {
	SPARES_WANTED_MS = 15 * 60 * 1000,
	SPARES_QUIET_MS = 100, /* nothing has happened for this long: one is started */
	SPARES_LOAD_MS = 400,  /* and this: it imports */
	SPARES_BUSY_MS = 1000, /* the same while a cell runs that goes on and on */
	SPARES_LOOK_MS = 30000,
	SPARES_LOAD_MAX_MS = 60000, /* of one import, with its stops */
	SPARES_FAILURES_MAX = 3,    /* in a row; then that language has none any more */
};

/*
 * `always` is wanted with every other language too; `meminfo` is the file for
 * spares_look_at_memory. Both and `host` are borrowed. Starts nothing.
 */
struct spares *spares_new(const struct session_host *host, const struct language *always,
			  const char *meminfo);
/* NULL is allowed. */
void spares_free(struct spares *spares);

/* All of these allow NULL: there are none. */

/* A session begins whose first cell will be in this language. NULL when none is ready. */
struct spare *spares_take(struct spares *spares, const struct language *language);
/* A session begins with this language, or uses it for the first time. */
void spares_want(struct spares *spares, const struct language *language);
/* A cell began, ended, or did something else: whatever is made ahead waits. */
void spares_disturb(struct spares *spares);

enum spares_memory { MEMORY_PLENTY, MEMORY_LITTLE, MEMORY_SHORT };

/* By the kernel's own account in this file (/proc/meminfo); plenty when unknown. */
enum spares_memory spares_look_at_memory(const char *path);

#endif
