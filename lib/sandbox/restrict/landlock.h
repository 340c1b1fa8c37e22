/* SPDX-License-Identifier: MIT */
/*
 * landlock.h - which files, sockets and processes a session reaches, whatever its mounts say.
 *
 * What a kernel does not know is left out (lockdown/landlock_ruleset.h).
 */
#ifndef SANDBOX_RESTRICT_LANDLOCK_H
#define SANDBOX_RESTRICT_LANDLOCK_H

#include "base/err.h"
#include "lockdown/landlock_ruleset.h"
#include "sandbox/policy.h"

/*
 * Enters the domain of the policy's tier, for the calling thread and all that it starts, for
 * good: what no rule names is refused. `workspace` is a descriptor of the folder for tier
 * landlock; a root of our own has it at POLICY_DATA. With `abi` 0 it does nothing, unless the
 * tier is landlock: ERR_UNSUPPORTED. Needs no_new_privs.
 */
int landlock_enter(const struct policy *policy, int workspace, int abi, struct err *err) MUST_CHECK;
/*
 * Enters a domain that only keeps signals from whoever is outside it: kill(-1) then reaches no
 * process but those that the caller starts. ERR_UNSUPPORTED below LANDLOCK_ABI_SIGNALS.
 */
int landlock_enter_signal_scope(int abi, struct err *err) MUST_CHECK;

#endif
