/* SPDX-License-Identifier: MIT */
/* admission_policy.h - decides how long a call that runs code is queued, and what happens then. */
#ifndef TOOLS_ADMISSION_POLICY_H
#define TOOLS_ADMISSION_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct service;

/* Prepares what a queued exec_code needs: its interpreter starts while confinement settles. */
void admission_policy_prepare(struct service *service, const json_t *arguments);
/* Acts on the settled confinement: logs it, and drops what was started for another one. */
void admission_policy_settled(struct service *service);
/*
 * Returns how many milliseconds exec_code should be queued, because a zygote serves its session
 * soon. Returns 0 when the call can run now.
 */
uint64_t admission_policy_wait_ms(struct service *service, const json_t *arguments);
/*
 * Returns whether a call of this tool should be queued because another server has the session. That
 * server may be ending: a host that restarts its server does not wait for the first one's end. Sets
 * *ret_leaving to whether it shows that, as it still runs a cell.
 */
bool admission_policy_held(struct service *service, const char *tool, const json_t *arguments,
			   bool *ret_leaving);

#endif
