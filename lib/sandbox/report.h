/* SPDX-License-Identifier: MIT */
/*
 * report.h - how this machine can confine sessions, found by building sandboxes and trying to
 * escape.
 *
 * The launcher makes a report on request, in throw-away children. The server keeps it, chooses the
 * tier by it, and shows it to the model, the log and `doctor`. A report crosses a channel as raw
 * bytes, so it holds no pointer and the receiver must check every number (report_check).
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
	LAYER_MOUNT_NAMESPACE, /* with a root of the session's own */
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
	LAYER_OWN_INODES, /* of the system's folders: watches and locks there are not shared with
			     host processes */
	LAYER_HIDDEN_PROCESSES, /* the machine's /proc shows none that are outside (hidepid); it is
				   tried only where sessions have no /proc of their own */
	LAYERS
};

struct sandbox_report {
	int32_t tier;          /* enum policy_tier: the strongest tier that passed every step */
	uint32_t layers;       /* 1U << enum report_layer */
	int32_t landlock_abi;  /* 0: the kernel has none */
	uint32_t escape_tests; /* how many escape tests ran in that tier */
	uint32_t escaped; /* 1U << enum escapes of tests that escaped; unless 0, the server must run
			     no code */
	/* For each stronger tier, why it is not available, with step and errno; "" when it is. */
	char reason[POLICY_TIERS][REPORT_REASON_MAX];
};

/*
 * Returns -1 and sets *err (ERR_INVALID) when a number is out of range. Makes every reason a
 * printable string, cut at the first control character: the process that sent it may have been
 * taken over.
 */
int report_check(struct sandbox_report *report, struct err *err) MUST_CHECK;
/* Sets the reason for `tier` to the message of `why`, cut to fit. */
void report_set_reason(struct sandbox_report *report, enum policy_tier tier, const struct err *why);

#endif
