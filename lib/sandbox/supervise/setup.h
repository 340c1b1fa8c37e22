/* SPDX-License-Identifier: MIT */
/*
 * enclose.h - builds around a session's first process what confines all of the session.
 *
 * What each interpreter gives up for itself on top of it is payload.h and confine.h.
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

/* Rather the calling process and all that it will fork than anything else of the machine. */
void setup_prefer_for_oom(void);

struct setup_result {
	int workspace;   /* the folder of interpreters; -1: POLICY_DATA. Borrowed from `folders` */
	int user_ns;     /* the second user namespace, owned; -1: none */
	bool kills_all;  /* kill(-1) reaches what is below the process, all of it, nothing else */
	uint32_t layers; /* 1U << enum report_layer */
};

struct setup_task {
	const int *folders;        /* those of a WIRE_SANDBOX */
	const struct uid_map *map; /* what uid_map_choose gave for the first one */
	uint32_t idmapped;         /* as idmap_shares returned it, of the folders that are shares */
	pid_t outside;             /* a process of the server's that the session must not reach */
	const struct privdrop_means *means;
};

/*
 * By the policy's tier; a limit that cannot hold there is taken out of it, and own_inodes is set as
 * it came out. In tier namespaces the caller was made by namespaces_fork with the same map.
 * Afterwards it cannot be looked into, and nothing but *ret_result and the folders is left open.
 */
int setup_self(struct policy *policy, const struct setup_task *task,
	       struct setup_result *ret_result, struct err *err) MUST_CHECK;

#endif
