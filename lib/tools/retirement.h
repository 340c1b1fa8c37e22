/* SPDX-License-Identifier: MIT */
/*
 * retirement.h - the end of sessions' folders, of this server and of servers that were killed.
 *
 * A folder that lasts is given up at once, by one rename: the next server must find it, however
 * soon this one is killed. Any other is removed by a helper process once no process can write in it
 * any more. Results of a killed server's sessions are saved before.
 */
#ifndef TOOLS_RETIREMENT_H
#define TOOLS_RETIREMENT_H

#include <stdbool.h>

struct inspector;
struct retirement;
struct sandbox;
struct session_host;

/* Makes one. `host` is borrowed; its home must be open before a folder retires. */
struct retirement *retirement_new(const struct session_host *host);
/* Hands the folders that still wait to helper processes and frees it. Stop the launcher before. */
void retirement_free(struct retirement *retirement);
/* Sets the function that is called from the loop each time when nothing is left to remove. */
void retirement_on_idle(struct retirement *retirement, void (*idle)(void *data), void *data);
/* Notes that the server ends: the next one looks after folders that last. */
void retirement_end(struct retirement *retirement);
/* Returns whether nothing is left to remove. */
bool retirement_is_idle(const struct retirement *retirement);
/* The parts that an ended session leaves. */
struct retiring {
	struct sandbox *sandbox_own;     /* or NULL */
	const char *name;                /* of the folder; borrowed for the call */
	struct inspector *inspector_own; /* or NULL */
	bool lasts;                      /* the folder stays */
};
/* Ends the sandbox, has the inspector look a last time and removes the folder, unless it lasts. */
void retirement_add(struct retirement *retirement, const struct retiring *retiring);
/*
 * Saves and removes the folders that killed servers left, one after the other, so that many of them
 * delay no cell. Sessions in them that can be resumed become folders that last at once. Returns
 * whether there were any.
 */
bool retirement_add_stale(struct retirement *retirement);
/*
 * Saves results of killed servers' sessions that can be resumed, and removes folders of ended
 * sessions that are too old or too many, or that were destroyed. May be called again.
 */
void retirement_look_after(struct retirement *retirement);
/* Stops saving results of the ended session in this folder, which was taken over. */
void retirement_skip(struct retirement *retirement, const char *name);

#endif
