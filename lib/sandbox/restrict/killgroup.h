/* SPDX-License-Identifier: MIT */
/*
 * killgroup.h - a set of processes that kill(-1) reaches completely and exclusively, without a pid
 * namespace.
 *
 * A member can signal no process outside the group, because its landlock domain holds signals in or
 * because it has a user of its own. So kill(-1) ends all processes of the group, including those
 * that fork meanwhile, daemonise or change their session. It must never be called outside such a
 * group: it would end every process of the user.
 */
#ifndef SANDBOX_RESTRICT_KILLGROUP_H
#define SANDBOX_RESTRICT_KILLGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Makes the calling process and all that it forks a kill group, permanently. Sets *ret_armed to
 * whether kill(-1) may be used: only when `outside`, a living process of the server, turned out to
 * be out of reach. `abi` is from landlock_abi. A machine that cannot do this is no error. Returns
 * -1 and sets *err if a system call fails.
 */
int killgroup_join(pid_t outside, int abi, bool *ret_armed, struct err *err) MUST_CHECK;

#endif
