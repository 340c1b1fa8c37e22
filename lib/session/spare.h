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
#ifndef SESSION_SPARE_H
#define SESSION_SPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct parent;
struct spare;

enum spare_state { SPARE_STARTING, SPARE_WAITING, SPARE_LOADING, SPARE_DEAD };

enum { SPARE_PRINTED_MAX = 16 << 10 /* bytes that its interpreter may print and be used */ };

/* With less memory a session than this it is only started ahead: more could fail half way. */
#define SPARE_PRELOAD_MEMORY_MIN (512ULL << 20)

/*
 * Starts one, forked from `parent` (or NULL) when that serves: then no module is left to import.
 * `changed` comes from the loop when its state is another, and may free it. All is
 * borrowed until free.
 */
struct spare *spare_new(const struct session_host *host, const struct language *language,
			const struct parent *parent,
			void (*changed)(struct spare *spare, void *data), void *data,
			struct err *err) MUST_CHECK;
/* Ends what was not taken of it; its folder is removed if that was not. NULL is allowed. */
void spare_free(struct spare *spare);

enum spare_state spare_state(const struct spare *spare);
/* Its interpreter or its sandbox died: it will tell so, and is of no use any more. */
bool spare_is_lost(const struct spare *spare);
const struct language *spare_language(const struct spare *spare);
/* Its driver can still get ready for a first cell, which takes milliseconds. */
bool spare_wants_ready(const struct spare *spare);
/* That, or there is a module left to import. */
bool spare_wants_load(const struct spare *spare);
/* Does the next of it; of a WAITING one that wants it. */
void spare_load(struct spare *spare);
/* `parent` has imported all by now, and had not when this was forked from it, if it was. */
bool spare_is_outdated(const struct spare *spare, const struct parent *parent);
/* For how long a LOADING one has been at it, its stops left out. */
uint64_t spare_loading_ms(const struct spare *spare);
/* Stops a LOADING one where it is, unless it gets ready, or lets it go on. */
void spare_pause(struct spare *spare, bool pause);

/* ---- handing over, in this order ---- */

/* Of one that waits or starts: the folder, then the caller's, to be freed after the spare. */
struct workspace *spare_take_workspace(struct spare *spare);
/*
 * The sandbox, then the caller's; NULL when the interpreter died. `ret_listener` gets the listener
 * of sandbox_watch_listener, -1 for none. `ret_cpu_ms` is the processor time that it used ahead.
 */
struct sandbox *spare_take_sandbox(struct spare *spare, int *ret_listener, uint64_t *ret_cpu_ms);
/* The runner, for a session of this context; NULL when it is for another language, or dead. */
struct runner *spare_take_runner(struct spare *spare, const struct runner_context *context);

#endif
