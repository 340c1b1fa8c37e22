/* SPDX-License-Identifier: MIT */
/*
 * report.h - what this machine gives a sandbox, found out by building one and trying to break it.
 *
 * The launcher makes it once, on request, in throw-away children; the server keeps it, chooses the
 * tier by it and tells it to the model, the log and `doctor`. It crosses a channel as it is, so it
 * holds no pointer and the receiver checks every number in it (report_check).
 */
#ifndef SANDBOX_REPORT_H
#define SANDBOX_REPORT_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/policy.h"

enum { REPORT_REASON_MAX = 160 };

/* Bits of `layers`: in force in the chosen tier. */
enum report_layer {
	LAYER_USER_NAMESPACE,
	LAYER_MOUNT_NAMESPACE, /* and a root of our own */
	LAYER_PID_NAMESPACE,
	LAYER_NET_NAMESPACE,
	LAYER_IPC_NAMESPACE,
	LAYER_UTS_NAMESPACE,
	LAYER_CGROUP_NAMESPACE,
	LAYER_SECOND_USER_NAMESPACE,
	LAYER_PRIVATE_PROC,
	LAYER_PRIVATE_PTY,
	LAYER_NO_CAPABILITIES,
	LAYER_NO_NEW_PRIVILEGES,
	LAYER_KEYRING,
	LAYER_LANDLOCK,
	LAYER_SECCOMP,
	LAYER_KILL_GROUP,
	LAYER_CGROUP_LIMITS,
	LAYER_OWN_INODES, /* of the system's folders: no watch and no lock there meets another's */
	LAYERS
};

struct sandbox_report {
	int32_t tier;         /* enum policy_tier: the strongest whose whole chain worked */
	uint32_t layers;      /* 1U << enum report_layer */
	int32_t landlock_abi; /* 0: the kernel has none */
	uint32_t canaries;    /* tried, in that tier */
	uint32_t through;     /* 1U << enum escapes of those that were not stopped; 0 or refuse */
	/* Why each stronger tier is not had, "" when it is: a sentence with step and errno. */
	char reason[POLICY_TIERS][REPORT_REASON_MAX];
};

/*
 * Is every number in its range and every reason a string? ERR_INVALID. The reasons are ours, but
 * came through a process that the kernel may have helped an attacker into: they are cut at the
 * first control character.
 */
int report_check(struct sandbox_report *report, struct err *err) MUST_CHECK;
/* Sets the reason for `tier`, the message of `why`, cut. */
void report_set_reason(struct sandbox_report *report, enum policy_tier tier, const struct err *why);

#endif
