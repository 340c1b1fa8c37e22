/* SPDX-License-Identifier: MIT */
/*
 * order.h - what all orders have in common: the network as the person's environment has it, and
 * how long everything together may take.
 *
 *   "deadline_ms"   from the program's start, all transfers together
 *   "stall_ms"      a transfer that moves less than JOB_STALL_BYTES a second for so long ends
 *   "https_proxy" "http_proxy" "no_proxy"   as the environment has them; may be missing
 *   "ca_file"       certificates of authorities in place of the system's; may be missing
 */
#ifndef FETCH_JOB_H
#define FETCH_JOB_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

enum { JOB_STALL_BYTES = 512, JOB_SLACK_MS = 20 };

/* Texts are borrowed from the order; NULL when missing or empty. */
struct job {
	uint64_t deadline_ms; /* on clock_ms() */
	uint64_t stall_ms;
	const char *https_proxy;
	const char *http_proxy;
	const char *no_proxy;
	const char *ca_file;
};

int job_take(const json_t *json, struct job *ret_order, struct err *err) MUST_CHECK;
/* A number that is not negative. */
int job_take_size(const json_t *json, const char *key, uint64_t *ret, struct err *err) MUST_CHECK;
/* A text; missing or empty leaves NULL. */
int job_take_text(const json_t *json, const char *key, const char **ret,
		  struct err *err) MUST_CHECK;
/*
 * Milliseconds until the deadline; 0 from JOB_SLACK_MS before it on: libcurl goes by a clock
 * that nobody slews, and may call the time over a little before ours does.
 */
uint64_t job_left_ms(const struct job *order);

#endif
