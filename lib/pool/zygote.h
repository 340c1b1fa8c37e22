/* SPDX-License-Identifier: MIT */
/*
 * zygote.h - a Python from which sessions are forked, and which imports what they use.
 *
 * It runs in a sandbox of its own (sandbox/namespaces/zygote_namespaces.h,
 * sandbox/supervise/zygote.h), with the host's programs and an empty folder. That sandbox stays
 * once it is made, because the sandboxes of forked sessions are nested in it. It is made anew only
 * when it has died. The interpreter comes and goes.
 *
 *   ZYGOTE_NONE --> STARTING --> SERVING <--> LOADING     a module is being imported
 *       ^               |           |            |
 *       '--- FAILED <---'-----------'------------'        for the rest of the loop's turn
 */
#ifndef POOL_ZYGOTE_H
#define POOL_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "runner/host.h"

struct interpreter;
struct zygote;

enum zygote_state {
	ZYGOTE_NONE,
	ZYGOTE_STARTING,
	ZYGOTE_SERVING,
	ZYGOTE_LOADING,
	ZYGOTE_FAILED,
};

/*
 * Makes a zygote that is not started. Returns NULL when sessions cannot be forked. Reasons are the
 * setting, the tier (it must be namespaces), an interpreter or library that is not the system's,
 * and a user variable that is read only at start. Everything is borrowed. `changed` comes from the
 * loop when the state changes.
 */
struct zygote *zygote_new(const struct session_host *host, const struct language *language,
			  void (*changed)(void *data, bool failed), void *data);
/* Ends the zygote sandbox and every session in it. May be NULL. */
void zygote_free(struct zygote *zygote);

enum zygote_state zygote_state(const struct zygote *zygote);
/* Starts the interpreter. Must be ZYGOTE_NONE. Returns -1 and sets *err. */
int zygote_start(struct zygote *zygote, struct err *err) MUST_CHECK;
/*
 * Returns whether its driver can still warm up for first cells, which takes milliseconds and little
 * memory.
 */
bool zygote_wants_ready(const struct zygote *zygote);
/* Returns whether its driver can still warm up, or a module is left to import. */
bool zygote_wants_load(const struct zygote *zygote);
/* Warms up or imports the next module. Must be SERVING and want it. */
void zygote_load(struct zygote *zygote);
/* Returns whether it serves in a moment: it is STARTING, or its driver warms up. */
bool zygote_is_starting(const struct zygote *zygote);
/* Pauses an import, or continues it. */
void zygote_pause(struct zygote *zygote, bool pause);
/* Returns for how long it has been STARTING or LOADING, with its pauses. */
uint64_t zygote_loading_ms(const struct zygote *zygote);
/*
 * Ends the interpreter; sessions that were forked from it live on. A zygote that did not answer a
 * session's init in time ends by itself, and `changed` gets `failed`.
 */
void zygote_drop(struct zygote *zygote);

/*
 * Returns the descriptors of its sandbox for confinement_open; NULL while it does not serve.
 * `zygote` may be NULL.
 */
const int *zygote_sandbox(const struct zygote *zygote);
/*
 * Returns where a runner's context finds the interpreter; points to NULL while the zygote does not
 * serve. Valid until free. `zygote` may be NULL.
 */
struct interpreter *const *zygote_interpreter(const struct zygote *zygote);

#endif
