/* SPDX-License-Identifier: MIT */
/*
 * killgroup.h - a set of processes that kill(-1) reaches whole, and nobody else, without a pid
 * namespace.
 *
 * Whoever joins may signal only processes that it starts: because its landlock domain keeps
 * signals in, or because it has a user of its own. kill(-1) then ends all of them, also those that
 * fork while they are being counted, daemonise or change their session. It must never be called
 * by somebody whom nothing holds: it would end all that the person has running.
 */
#ifndef SANDBOX_RESTRICT_KILLGROUP_H
#define SANDBOX_RESTRICT_KILLGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Joins, when this machine can, and says in *ret_armed whether kill(-1) may be used: only when it
 * was seen that `outside`, a living process of the server's, cannot be signalled. For good, and for
 * all that is forked later. `abi` is landlock's (landlock_abi). Not being able is no error.
 */
int killgroup_join(pid_t outside, int abi, bool *ret_armed, struct err *err) MUST_CHECK;

#endif
