/* SPDX-License-Identifier: MIT */
/*
 * enclose.h - builds around a session's first process what confines all of the session.
 *
 * What each interpreter gives up for itself on top of it is payload.h and confine.h.
 */
#ifndef SANDBOX_ENCLOSE_H
#define SANDBOX_ENCLOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/policy.h"
#include "sandbox/usermap.h"

struct enclosure {
	int workspace;   /* the folder of interpreters; -1: POLICY_DATA. Borrowed from `folders` */
	int user_ns;     /* the second user namespace, owned; -1: none */
	bool kills_all;  /* kill(-1) reaches what is below the process, all of it, nothing else */
	uint32_t layers; /* 1U << enum report_layer */
};

/*
 * By the policy's tier. `folders` are those of a WIRE_SANDBOX, `map` is what usermap_choose gave
 * for the first one, `outside` a process of the server's that the session must not reach. In tier
 * namespaces the caller was made by namespaces_fork with the same map. It is then neither to be
 * looked into, nor are more than *ret_enclosure and `folders` left open.
 */
int enclose_self(const struct policy *policy, const int *folders, const struct usermap *map,
		 pid_t outside, struct enclosure *ret_enclosure, struct err *err) MUST_CHECK;

#endif
