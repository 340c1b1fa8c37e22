/* SPDX-License-Identifier: MIT */
/*
 * job.h - the members that all requests have: the user's proxies and certificates, and the time
 * limits.
 *
 *   - "deadline_ms": from the program's start, for all transfers together
 *   - "stall_ms": how long a transfer may move less than JOB_STALL_BYTES a second
 *   - "https_proxy", "http_proxy", "no_proxy": as in the environment; may be missing
 *   - "ca_file": certificates of authorities in place of the system's; may be missing
 */
#ifndef FETCH_JOB_H
#define FETCH_JOB_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

enum { JOB_STALL_BYTES = 512, JOB_SLACK_MS = 20 };

/* Texts are borrowed from the request; NULL when missing or empty. */
struct job {
	uint64_t deadline_ms; /* on clock_ms() */
	uint64_t stall_ms;
	const char *https_proxy;
	const char *http_proxy;
	const char *no_proxy;
	const char *ca_file;
};

/* Reads the members. The deadline counts from now. Returns -1 and sets *err. */
int job_take(const json_t *json, struct job *ret_job, struct err *err) MUST_CHECK;
/* Reads a number that is not negative. Returns -1 and sets *err. */
int job_take_size(const json_t *json, const char *key, uint64_t *ret, struct err *err) MUST_CHECK;
/* Reads a text, or NULL for a missing or empty one. Returns -1 and sets *err. */
int job_take_text(const json_t *json, const char *key, const char **ret,
		  struct err *err) MUST_CHECK;
/*
 * Returns the milliseconds until the deadline, and 0 from JOB_SLACK_MS before it. libcurl uses a
 * clock that is not slewed. It may end a transfer a little before our clock reaches the deadline.
 */
uint64_t job_left_ms(const struct job *job);

#endif
