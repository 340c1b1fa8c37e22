/* SPDX-License-Identifier: MIT */
/*
 * slot.h - a prestarted sandbox: an interpreter that runs for a session that does not exist yet.
 *
 * A slot consists of a folder, a sandbox and a runner, as any session does. All three become the
 * session's: the folder at once, sandbox and runner with its first cell. A slot has the limits that
 * sessions begin with; a session that changes one before its first cell cannot have its sandbox.
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

enum { SLOT_PRINTED_MAX = 16 << 10 /* bytes that its interpreter may print and still be used */ };

/* Slots of sessions with less memory are only started: more could fail half way. */
#define SLOT_PRELOAD_MEMORY_MIN (512ULL << 20)

/*
 * Starts a slot, forked from `zygote` if that serves: then no module is left to import. `zygote`
 * may be NULL. `changed` comes from the loop when the state changes, and may free the slot.
 * Everything is borrowed until free. Returns NULL and sets *err.
 */
struct slot *slot_new(const struct session_host *host, const struct language *language,
		      const struct zygote *zygote, void (*changed)(struct slot *slot, void *data),
		      void *data, struct err *err) MUST_CHECK;
/*
 * Ends the parts that were not taken, and removes the folder if that was not taken. NULL is
 * allowed.
 */
void slot_free(struct slot *slot);

enum slot_state slot_state(const struct slot *slot);
/* Returns whether its interpreter or sandbox has died, even if `changed` has not come yet. */
bool slot_is_lost(const struct slot *slot);
const struct language *slot_language(const struct slot *slot);
/* Returns whether its driver can still warm up for a first cell, which takes milliseconds. */
bool slot_wants_ready(const struct slot *slot);
/* Returns whether its driver can still warm up, or a module is left to import. */
bool slot_wants_load(const struct slot *slot);
/* Warms up or imports the next module. Must be WAITING and want it. */
void slot_load(struct slot *slot);
/*
 * Returns whether `zygote` has imported everything since the slot was made: a new one would be
 * better.
 */
bool slot_is_outdated(const struct slot *slot, const struct zygote *zygote);
/* Returns for how long a LOADING slot has been at it, without its pauses. */
uint64_t slot_loading_ms(const struct slot *slot);
/* Pauses the import of a LOADING slot, or continues it. Warming up is not paused. */
void slot_pause(struct slot *slot, bool pause);

/* ---- handover, in this order ---- */

/*
 * Takes the folder of a slot that waits or starts. The caller owns it and must free it after the
 * slot.
 */
struct workspace *slot_take_workspace(struct slot *slot);
/*
 * Takes the sandbox. Returns NULL when the interpreter died. `ret_listener` gets the listener of
 * sandbox_watch_listener, or -1. `ret_cpu_ms` gets the processor time used so far. The caller owns
 * both.
 */
struct sandbox *slot_take_sandbox(struct slot *slot, int *ret_listener, uint64_t *ret_cpu_ms);
/*
 * Takes the runner for a session with this context. Returns NULL when it is for another language,
 * or dead. The caller owns it.
 */
struct runner *slot_take_runner(struct slot *slot, const struct runner_context *context);

#endif
