/* SPDX-License-Identifier: MIT */
/*
 * parent.h - a Python that is copied for sessions, and imports meanwhile what they use.
 *
 * It lives in a nursery, a sandbox that is no session's (sandbox/nursery.h, sandbox/parent.h), with
 * the host's programs and an empty folder of its own. The nursery stays once it is made, as the
 * sandboxes of sessions lie in it, and is made anew when it died; the interpreter comes and goes.
 *
 *   PARENT_NONE --> STARTING --> SERVING <--> LOADING     a module is being imported
 *       ^               |           |            |
 *       '--- FAILED <---'-----------'------------'        for the rest of the loop's turn
 */
#ifndef SESSION_PARENT_H
#define SESSION_PARENT_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct interpreter;
struct parent;

enum parent_state {
	PARENT_NONE,
	PARENT_STARTING,
	PARENT_SERVING,
	PARENT_LOADING,
	PARENT_FAILED,
};

/*
 * NULL when sessions cannot be forked here: it is switched off, the tier is not namespaces, the
 * interpreter or what it imports is not the system's, or something that the person passes on to
 * sessions is read only when an interpreter starts. Everything is borrowed. `changed` comes from
 * the loop when the state is another.
 */
struct parent *parent_new(const struct session_host *host, const struct language *language,
			  void (*changed)(void *data, bool failed), void *data);
/* NULL is allowed. Ends the nursery, and every session in it. */
void parent_free(struct parent *parent);

enum parent_state parent_state(const struct parent *parent);
/* Starts the interpreter; of PARENT_NONE. */
int parent_start(struct parent *parent, struct err *err) MUST_CHECK;
/* Its driver can still get ready for first cells, which takes milliseconds and little memory. */
bool parent_wants_ready(const struct parent *parent);
/* That, or there is a module left to import. */
bool parent_wants_load(const struct parent *parent);
/* Does the next of it; of a SERVING one that wants it. */
void parent_load(struct parent *parent);
/* It serves in a moment: it is STARTING, or its driver gets ready. */
bool parent_comes(const struct parent *parent);
/* Stops one that imports where it is, or lets it go on. */
void parent_pause(struct parent *parent, bool pause);
/* For how long it has been STARTING or LOADING, its stops included. */
uint64_t parent_loading_ms(const struct parent *parent);
/*
 * Ends the interpreter; sessions that were forked from it live on. One that did not answer a
 * session's init in time ends by itself, and has `failed`.
 */
void parent_drop(struct parent *parent);

/* The two below allow NULL. While it is SERVING: for confinement_open; NULL else. */
const int *parent_nursery(const struct parent *parent);
/* The same, for a runner's context: points to NULL while it does not serve. Valid until free. */
struct interpreter *const *parent_interpreter(const struct parent *parent);

#endif
