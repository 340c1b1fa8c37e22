/* SPDX-License-Identifier: MIT */
/*
 * confine.h - what each interpreter gives up for itself, as the last thing before it is one.
 *
 * In this order: a session keyring of its own, capabilities of all sets, new rights through
 * exec, landlock, seccomp. All are inherited by whatever it starts and cannot be undone.
 */
#ifndef SANDBOX_RESTRICT_PRIVDROP_H
#define SANDBOX_RESTRICT_PRIVDROP_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/policy.h"
#include "sandbox/report.h"
#include "sandbox/restrict/landlock.h"

/*
 * What tests leave out, to see which layer stops what and how an older kernel does. The programs
 * use privdrop_whole.
 */
struct privdrop_means {
	uint32_t without; /* 1U << enum report_layer */
	int landlock_abi; /* at most this one */
};

extern const struct privdrop_means privdrop_whole;

/*
 * Confines the calling process, which has one thread. After the limits (a lower one could not be
 * set with less rights) and before the folder is entered. `workspace` is as for landlock_enter.
 * Nothing in POLICY_UNCONFINED. After a failure the process must not go on.
 */
int privdrop_apply(const struct policy *policy, int workspace, const struct privdrop_means *means,
		   struct err *err) MUST_CHECK;
/*
 * Makes every capability one that no program run from here can get again; those that the process
 * has stay. Nothing for who may not.
 */
int privdrop_bound_capabilities(struct err *err) MUST_CHECK;
/* The layers that privdrop_apply puts in force on this machine, as bits of enum report_layer. */
uint32_t privdrop_layers(const struct policy *policy, const struct privdrop_means *means);

#endif
