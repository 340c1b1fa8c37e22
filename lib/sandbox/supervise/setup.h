/* SPDX-License-Identifier: MIT */
/*
 * setup.h - sets up, around a session's first process, what confines the whole session.
 *
 * The layers that each interpreter takes in addition are in restrict/payload.h and
 * restrict/privdrop.h.
 */
#ifndef SANDBOX_SUPERVISE_SETUP_H
#define SANDBOX_SUPERVISE_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/namespaces/uid_map.h"
#include "sandbox/policy.h"
#include "sandbox/restrict/privdrop.h"

/*
 * Makes the calling process, and all that it forks, the first victims of the kernel's OOM killer.
 */
void setup_prefer_for_oom(void);

struct setup_result {
	int workspace;   /* the working folder of interpreters, borrowed from `folders`; -1:
			    POLICY_DATA */
	int user_ns;     /* the second user namespace, owned; -1: none */
	bool kills_all;  /* kill(-1) reaches all processes below, and no others */
	uint32_t layers; /* 1U << enum report_layer */
};

struct setup_task {
	const int *folders;        /* the folders of a WIRE_SANDBOX */
	const struct uid_map *map; /* from uid_map_choose for the first folder */
	uint32_t idmapped;         /* from idmap_shares, for the folders that are shares */
	pid_t outside;             /* a process of the server that the session must not reach */
	const struct privdrop_means *means;
};

/*
 * Sets up the sandbox of the policy's tier, and sets the policy's own_inodes to the outcome. In
 * tier namespaces the caller must come from namespaces_fork with the same map. In tiers namespaces
 * and bwrap the caller cannot be traced afterwards. Nothing is left open but *ret_result and the
 * folders. Returns -1 and sets *err; the process must then exit.
 */
int setup_self(struct policy *policy, const struct setup_task *task,
	       struct setup_result *ret_result, struct err *err) MUST_CHECK;

#endif
