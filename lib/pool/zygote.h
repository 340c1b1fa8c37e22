/* SPDX-License-Identifier: MIT */
/*
 * parent.h - a Python that is copied for sessions, and imports meanwhile what they use.
 *
 * It lives in a nursery, a sandbox that is no session's (sandbox/namespaces/zygote_namespaces.h,
 * sandbox/supervise/zygote.h), with the host's programs and an empty folder of its own. The nursery
 * stays once it is made, as the sandboxes of sessions lie in it, and is made anew when it died; the
 * interpreter comes and goes.
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
 * NULL when sessions cannot be forked here: it is switched off, the tier is not namespaces, the
 * interpreter or what it imports is not the system's, or something that the person passes on to
 * sessions is read only when an interpreter starts. Everything is borrowed. `changed` comes from
 * the loop when the state is another.
 */
struct zygote *zygote_new(const struct session_host *host, const struct language *language,
			  void (*changed)(void *data, bool failed), void *data);
/* NULL is allowed. Ends the nursery, and every session in it. */
void zygote_free(struct zygote *zygote);

enum zygote_state zygote_state(const struct zygote *zygote);
/* Starts the interpreter; of ZYGOTE_NONE. */
int zygote_start(struct zygote *zygote, struct err *err) MUST_CHECK;
/* Its driver can still get ready for first cells, which takes milliseconds and little memory. */
bool zygote_wants_ready(const struct zygote *zygote);
/* That, or there is a module left to import. */
bool zygote_wants_load(const struct zygote *zygote);
/* Does the next of it; of a SERVING one that wants it. */
void zygote_load(struct zygote *zygote);
/* It serves in a moment: it is STARTING, or its driver gets ready. */
bool zygote_is_starting(const struct zygote *zygote);
/* Stops one that imports where it is, or lets it go on. */
void zygote_pause(struct zygote *zygote, bool pause);
/* For how long it has been STARTING or LOADING, its stops included. */
uint64_t zygote_loading_ms(const struct zygote *zygote);
/*
 * Ends the interpreter; sessions that were forked from it live on. One that did not answer a
 * session's init in time ends by itself, and has `failed`.
 */
void zygote_drop(struct zygote *zygote);

/* The two below allow NULL. While it is SERVING: for confinement_open; NULL else. */
const int *zygote_sandbox(const struct zygote *zygote);
/* The same, for a runner's context: points to NULL while it does not serve. Valid until free. */
struct interpreter *const *zygote_interpreter(const struct zygote *zygote);

#endif
