/* SPDX-License-Identifier: MIT */
/* admission_policy.h - decides how long a call that runs code is queued, and what happens then. */
#ifndef TOOLS_ADMISSION_POLICY_H
#define TOOLS_ADMISSION_POLICY_H

#include <jansson.h>
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

#endif
