/* SPDX-License-Identifier: MIT */
/*
 * landlock.h - which files, sockets and processes a session reaches, independent of its mounts.
 *
 * Rights that the kernel does not know are left out (lockdown/landlock_ruleset.h).
 */
#ifndef SANDBOX_RESTRICT_LANDLOCK_H
#define SANDBOX_RESTRICT_LANDLOCK_H

#include "base/err.h"
#include "lockdown/landlock_ruleset.h"
#include "sandbox/policy.h"

/*
 * Enters the domain of the policy's tier, permanently, for the calling thread and all that it
 * starts. Access that no rule names is refused. `workspace` is the folder's descriptor in tier
 * landlock; other tiers use POLICY_DATA. With `abi` 0 this does nothing outside tier landlock.
 * Requires no_new_privs. Returns -1 and sets *err: ERR_UNSUPPORTED in tier landlock with `abi` 0,
 * and for a writable share in any tier but namespaces.
 */
int landlock_enter(const struct policy *policy, int workspace, int abi, struct err *err) MUST_CHECK;
/*
 * Enters a domain that only holds signals in: kill(-1) then reaches only processes that the caller
 * starts. Returns -1 and sets *err: ERR_UNSUPPORTED below LANDLOCK_ABI_SIGNALS.
 */
int landlock_enter_signal_scope(int abi, struct err *err) MUST_CHECK;

#endif
