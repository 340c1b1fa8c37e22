/* SPDX-License-Identifier: MIT */
/*
 * spare.h - a sandbox in which an interpreter runs for a session that does not exist yet.
 *
 * It is what any session is made of, only earlier: a folder, a sandbox, a runner. All three become
 * the session's, the folder at once, sandbox and runner with its first cell. Its limits are those
 * that sessions begin with; whoever changes one before the first cell cannot have its sandbox.
 *
 *   STARTING --> WAITING <--> LOADING     a module is being imported
 *       '-----------'------------'--> DEAD
 */
#ifndef POOL_SLOT_H
#define POOL_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "runner/host.h"
#include "runner/runner.h"

struct zygote;
struct slot;

enum slot_state { SLOT_STARTING, SLOT_WAITING, SLOT_LOADING, SLOT_DEAD };

enum { SLOT_PRINTED_MAX = 16 << 10 /* bytes that its interpreter may print and be used */ };

/* With less memory a session than this it is only started ahead: more could fail half way. */
#define SLOT_PRELOAD_MEMORY_MIN (512ULL << 20)

/*
 * Starts one, forked from `parent` (or NULL) when that serves: then no module is left to import.
 * `changed` comes from the loop when its state is another, and may free it. All is
 * borrowed until free.
 */
struct slot *slot_new(const struct session_host *host, const struct language *language,
		      const struct zygote *zygote, void (*changed)(struct slot *slot, void *data),
		      void *data, struct err *err) MUST_CHECK;
/* Ends what was not taken of it; its folder is removed if that was not. NULL is allowed. */
void slot_free(struct slot *slot);

enum slot_state slot_state(const struct slot *slot);
/* Its interpreter or its sandbox died: it will tell so, and is of no use any more. */
bool slot_is_lost(const struct slot *slot);
const struct language *slot_language(const struct slot *slot);
/* Its driver can still get ready for a first cell, which takes milliseconds. */
bool slot_wants_ready(const struct slot *slot);
/* That, or there is a module left to import. */
bool slot_wants_load(const struct slot *slot);
/* Does the next of it; of a WAITING one that wants it. */
void slot_load(struct slot *slot);
/* `parent` has imported all by now, and had not when this was forked from it, if it was. */
bool slot_is_outdated(const struct slot *slot, const struct zygote *zygote);
/* For how long a LOADING one has been at it, its stops left out. */
uint64_t slot_loading_ms(const struct slot *slot);
/* Stops a LOADING one where it is, unless it gets ready, or lets it go on. */
void slot_pause(struct slot *slot, bool pause);

/* ---- handing over, in this order ---- */

/* Of one that waits or starts: the folder, then the caller's, to be freed after the spare. */
struct workspace *slot_take_workspace(struct slot *slot);
/*
 * The sandbox, then the caller's; NULL when the interpreter died. `ret_listener` gets the listener
 * of sandbox_watch_listener, -1 for none. `ret_cpu_ms` is the processor time that it used ahead.
 */
struct sandbox *slot_take_sandbox(struct slot *slot, int *ret_listener, uint64_t *ret_cpu_ms);
/* The runner, for a session of this context; NULL when it is for another language, or dead. */
struct runner *slot_take_runner(struct slot *slot, const struct runner_context *context);

#endif
