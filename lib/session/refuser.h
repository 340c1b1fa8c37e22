/* SPDX-License-Identifier: MIT */
/*
 * refuser.h - refuses connections of cells that run again, which would otherwise send twice. Shared
 * folders are read-only meanwhile (sandbox_seal).
 */
#ifndef SESSION_REFUSER_H
#define SESSION_REFUSER_H

#include <stddef.h>

struct loop;
struct refuser;

/* Makes a refuser without a listener. Must be called before the session's sandbox is opened. */
struct refuser *refuser_new(struct loop *loop);
/* Frees it. May be NULL. */
void refuser_free(struct refuser *refuser);
/*
 * Takes the place of the session's proxy: answers each connection of session code with a refusal,
 * and ends it. Takes ownership of the listener; an earlier one is closed.
 */
void refuser_listen(struct refuser *refuser, int listener_own);
/*
 * Ends the connections that were made by now. Returns how many there have been since the last call.
 */
size_t refuser_count(struct refuser *refuser);
/* Returns the listener, which the caller owns; -1 if there is none. */
int refuser_take_listener(struct refuser *refuser);

#endif
