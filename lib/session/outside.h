/* SPDX-License-Identifier: MIT */
/*
 * outside.h - refuses connections of cells that run again, which would otherwise send twice. Shared
 * folders are read-only meanwhile (sandbox_seal).
 */
#ifndef SESSION_OUTSIDE_H
#define SESSION_OUTSIDE_H

#include <stddef.h>

struct loop;
struct outside;

/* Makes one without a listener. Must precede the opening of the session's sandbox. */
struct outside *outside_new(struct loop *loop);
/* Frees it. May be NULL. */
void outside_free(struct outside *outside);
/*
 * Takes the place of the session's proxy, and ends each connection that session code makes. Takes
 * ownership of the listener; an earlier one is closed.
 */
void outside_listen(struct outside *outside, int listener_own);
/*
 * Ends the connections that were made by now. Returns how many there have been since the last call.
 */
size_t outside_count(struct outside *outside);
/* Returns the listener, which the caller owns; -1 if there is none. */
int outside_take_listener(struct outside *outside);

#endif
