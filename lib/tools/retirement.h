/* SPDX-License-Identifier: MIT */
/*
 * retirement.h - the end of sessions' folders, of this server and of servers that were killed.
 *
 * A folder is removed by a helper process once no process can write in it any more. Results of a
 * killed server's sessions are saved before.
 */
#ifndef TOOLS_RETIREMENT_H
#define TOOLS_RETIREMENT_H

#include <stdbool.h>

struct lookout;
struct retirement;
struct sandbox;
struct session_host;

/* `host` is borrowed; its home must be open before a folder retires. */
struct retirement *retirement_new(const struct session_host *host);
/* Hands the folders that still wait to helper processes and frees it. Stop the launcher before. */
void retirement_free(struct retirement *retirement);
/* Sets the function that is called from the loop each time when nothing is left to remove. */
void retirement_on_idle(struct retirement *retirement, void (*idle)(void *data), void *data);
/* Returns whether nothing is left to remove. */
bool retirement_is_idle(const struct retirement *retirement);
/*
 * Ends the sandbox, has `lookout_own` look a last time and removes the folder `name`. Takes
 * ownership of both; each may be NULL.
 */
void retirement_add(struct retirement *retirement, struct sandbox *sandbox_own, const char *name,
		    struct lookout *lookout_own);
/* Saves and removes the folders that killed servers left. Returns whether there were any. */
bool retirement_add_stale(struct retirement *retirement);

#endif
