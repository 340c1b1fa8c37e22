/* SPDX-License-Identifier: MIT */
/*
 * report.c - checks a report that came over a channel, and fills in its reasons.
 *
 * The sender ran escape tests, so its bytes are untrusted: numbers are checked against their ranges
 * and texts end at the first control character.
 */
#include "sandbox/report.h"

#include <string.h>

static void cut_at_control(char *text)
{
	while ((unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	*text = '\0';
}

int report_check(struct sandbox_report *report, struct err *err)
{
	if (report->tier < 0 || report->tier >= POLICY_TIERS || report->layers >= BIT(LAYERS) ||
	    report->landlock_abi < 0)
		return err_set(err, ERR_INVALID, "a report of the sandbox that makes no sense");
	for (size_t i = 0; i < POLICY_TIERS; i++) {
		report->reason[i][REPORT_REASON_MAX - 1] = '\0';
		cut_at_control(report->reason[i]);
	}
	return 0;
}

void report_set_reason(struct sandbox_report *report, enum policy_tier tier, const struct err *why)
{
	char *reason = report->reason[tier];
	size_t len = size_min(strlen(why->msg), REPORT_REASON_MAX - 1);

	memcpy(reason, why->msg, len);
	reason[len] = '\0';
}
