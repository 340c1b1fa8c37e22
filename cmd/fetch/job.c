/* SPDX-License-Identifier: MIT */
#include "job.h"

#include "base/clock.h"
#include "json/get.h"

int job_take_size(const json_t *json, const char *key, uint64_t *ret, struct err *err)
{
	json_int_t value = 0;

	if (json_get_required(json, "order", key, err) < 0 ||
	    json_get_int(json, "order", key, &value, err) < 0)
		return -1;
	if (value < 0)
		return err_set(err, ERR_INVALID, "order.%s is negative", key);
	*ret = (uint64_t)value;
	return 0;
}

int job_take_text(const json_t *json, const char *key, const char **ret, struct err *err)
{
	const char *text = NULL;

	if (json_get_text(json, "order", key, &text, NULL, err) < 0)
		return -1;
	*ret = text != NULL && text[0] != '\0' ? text : NULL;
	return 0;
}

int job_take(const json_t *json, struct job *ret_order, struct err *err)
{
	struct job order = { .deadline_ms = 0 };
	uint64_t deadline_ms = 0;

	if (job_take_size(json, "deadline_ms", &deadline_ms, err) < 0 ||
	    job_take_size(json, "stall_ms", &order.stall_ms, err) < 0 ||
	    job_take_text(json, "https_proxy", &order.https_proxy, err) < 0 ||
	    job_take_text(json, "http_proxy", &order.http_proxy, err) < 0 ||
	    job_take_text(json, "no_proxy", &order.no_proxy, err) < 0 ||
	    job_take_text(json, "ca_file", &order.ca_file, err) < 0)
		return -1;
	order.deadline_ms = clock_ms() + deadline_ms;
	*ret_order = order;
	return 0;
}

uint64_t job_left_ms(const struct job *order)
{
	uint64_t now = clock_ms();

	return now + JOB_SLACK_MS < order->deadline_ms ? order->deadline_ms - now : 0;
}
