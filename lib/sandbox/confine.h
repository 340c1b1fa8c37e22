/* SPDX-License-Identifier: MIT */
/*
 * confine.h - what each interpreter gives up for itself, as the last thing before it is one.
 *
 * In this order: a session keyring of its own, capabilities of all sets, new rights through
 * exec, landlock, seccomp. All are inherited by whatever it starts and cannot be undone.
 */
#ifndef SANDBOX_CONFINE_H
#define SANDBOX_CONFINE_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/landlock.h"
#include "sandbox/policy.h"
#include "sandbox/report.h"

/*
 * What tests leave out, to see which layer stops what and how an older kernel does. The programs
 * use confine_whole.
 */
struct confine_means {
	uint32_t without; /* 1U << enum report_layer */
	int landlock_abi; /* at most this one */
};

extern const struct confine_means confine_whole;

/*
 * Confines the calling process, which has one thread. After the limits (a lower one could not be
 * set with less rights) and before the folder is entered. `workspace` is as for landlock_enter.
 * Nothing in POLICY_UNCONFINED. After a failure the process must not go on.
 */
int confine_apply(const struct policy *policy, int workspace, const struct confine_means *means,
		  struct err *err) MUST_CHECK;
/*
 * Makes every capability one that no program run from here can get again; those that the process
 * has stay. Nothing for who may not.
 */
int confine_bound_capabilities(struct err *err) MUST_CHECK;
/* The layers that confine_apply puts in force on this machine, as bits of enum report_layer. */
uint32_t confine_layers(const struct policy *policy, const struct confine_means *means);

#endif
