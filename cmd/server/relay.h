/* SPDX-License-Identifier: MIT */
/*
 * relay.h - passes stderr of a server and its helpers on to the host of the moment.
 *
 * Programs keep the stderr that they were started with, and a host may wait until no process has
 * its stderr open any more. So in a server that outlives its hosts, they all write into a pipe.
 * Its lines go to the host that is there; without one they are dropped.
 */
#ifndef SERVER_RELAY_H
#define SERVER_RELAY_H

#include "event/loop.h"

struct relay;

/*
 * Makes the pipe the stdout and stderr of the process. Takes ownership of `err_fd`, where what is
 * written goes. Returns NULL and sets *err.
 */
struct relay *relay_new(struct loop *loop, int err_fd, struct err *err) MUST_CHECK;
/* Passes on what was written so far. The rest goes to `err_fd`; -1 drops it. */
void relay_to(struct relay *relay, int err_fd);
/* Passes on what was written so far. May be NULL. */
void relay_free(struct relay *relay);

#endif
