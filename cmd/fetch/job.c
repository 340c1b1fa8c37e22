/* SPDX-License-Identifier: MIT */
/*
 * job.c - reads what all requests have in common. The server sends the deadline as a duration,
 * since the two processes need not agree on a clock. It becomes a point of time here, once, and
 * every transfer gets what is left of it.
 */
#include "job.h"

#include "base/clock.h"
#include "json/get.h"

int job_take_size(const json_t *json, const char *key, uint64_t *ret, struct err *err)
{
	json_int_t value = 0;

	if (json_get_required(json, "request", key, err) < 0 ||
	    json_get_int(json, "request", key, &value, err) < 0)
		return -1;
	if (value < 0)
		return err_set(err, ERR_INVALID, "request.%s is negative", key);
	*ret = (uint64_t)value;
	return 0;
}

int job_take_text(const json_t *json, const char *key, const char **ret, struct err *err)
{
	const char *text = NULL;

	if (json_get_text(json, "request", key, &text, NULL, err) < 0)
		return -1;
	*ret = text != NULL && text[0] != '\0' ? text : NULL;
	return 0;
}

int job_take(const json_t *json, struct job *ret_job, struct err *err)
{
	struct job job = { .deadline_ms = 0 };
	uint64_t deadline_ms = 0;

	if (job_take_size(json, "deadline_ms", &deadline_ms, err) < 0 ||
	    job_take_size(json, "stall_ms", &job.stall_ms, err) < 0 ||
	    job_take_text(json, "https_proxy", &job.https_proxy, err) < 0 ||
	    job_take_text(json, "http_proxy", &job.http_proxy, err) < 0 ||
	    job_take_text(json, "no_proxy", &job.no_proxy, err) < 0 ||
	    job_take_text(json, "ca_file", &job.ca_file, err) < 0)
		return -1;
	job.deadline_ms = clock_ms() + deadline_ms;
	*ret_job = job;
	return 0;
}

uint64_t job_left_ms(const struct job *job)
{
	uint64_t now = clock_ms();

	return now + JOB_SLACK_MS < job->deadline_ms ? job->deadline_ms - now : 0;
}
