/* SPDX-License-Identifier: MIT */
/*
 * privdrop.h - the privileges that each interpreter drops for itself, as its last step.
 *
 * In this order: a new session keyring, capabilities of all sets, no_new_privs, landlock, seccomp.
 * All that the interpreter starts inherits them, and none can be undone.
 */
#ifndef SANDBOX_RESTRICT_PRIVDROP_H
#define SANDBOX_RESTRICT_PRIVDROP_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/policy.h"
#include "sandbox/report.h"
#include "sandbox/restrict/landlock.h"

/*
 * The layers that tests leave out, to see which layer stops what, and how an older kernel behaves.
 * The programs use privdrop_whole.
 */
struct privdrop_means {
	uint32_t without; /* 1U << enum report_layer */
	int landlock_abi; /* the highest ABI to use */
};

extern const struct privdrop_means privdrop_whole;

/*
 * Confines the calling process, which must have one thread. Must follow the limits, which could not
 * be lowered with fewer rights, and precede entering the folder. `workspace` is as for
 * landlock_enter. Does nothing for POLICY_UNCONFINED. Returns -1 and sets *err; the process must
 * then exit.
 */
int privdrop_apply(const struct policy *policy, int workspace, const struct privdrop_means *means,
		   struct err *err) MUST_CHECK;
/*
 * Empties the capability bounding set, so that no program run from here gains a capability; the
 * process keeps its own. Does nothing without the right to do it. Returns -1 and sets *err.
 */
int privdrop_bound_capabilities(struct err *err) MUST_CHECK;
/*
 * Returns the layers that privdrop_apply activates on this machine, as bits of enum report_layer.
 */
uint32_t privdrop_layers(const struct policy *policy, const struct privdrop_means *means);

#endif
