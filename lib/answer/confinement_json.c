/* SPDX-License-Identifier: MIT */
/*
 * confinement_json.c - describes a confinement from its report: the tier and why no stronger one
 * holds, the layers, the escape tests that were stopped, shares and control groups.
 */
#include "answer/confinement_json.h"

#include "base/buf.h"
#include "confinement/confinement.h"
#include "confinement/confinement_text.h"
#include "json/make.h"

/* Puts the reasons why stronger tiers do not hold. */
static void put_reasons(json_t *object, const struct sandbox_report *report)
{
	json_t *reasons = json_object();

	for (int tier = report->tier + 1; tier < POLICY_TIERS; tier++)
		if (report->reason[tier][0] != '\0')
			json_put_str(reasons, policy_tier_name((enum policy_tier)tier),
				     report->reason[tier]);
	if (json_object_size(reasons) > 0)
		json_put(object, "stronger_tiers", reasons);
	else
		json_decref(reasons);
}

static void put_verified(json_t *object, const struct sandbox_report *report, time_t when)
{
	unsigned int stopped =
		report->escape_tests - (unsigned int)__builtin_popcount(report->escaped);
	char text[sizeof("yyyy-mm-dd hh:mm UTC")] = "";
	struct tm utc;

	if (when != 0 && gmtime_r(&when, &utc) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &utc);
	json_put(object, "verified",
		 json_make_fmt("%u of %u attempts to break out were stopped%s%s", stopped,
			       report->escape_tests, text[0] != '\0' ? " at " : "", text));
}

static void put_report(json_t *object, const struct sandbox_report *report)
{
	json_t *layers = json_array();

	for (unsigned int i = 0; i < LAYERS; i++)
		if ((report->layers & BIT(i)) != 0)
			json_append(layers,
				    json_make_str(confinement_layer_name((enum report_layer)i)));
	json_put(object, "layers", layers);
	json_put_int(object, "landlock_abi", report->landlock_abi);
	put_reasons(object, report);
}

/* Puts the control groups that limit whole sessions, or why there are none. */
static void put_groups(json_t *object, const struct confinement *confinement)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	confinement_groups_text(&text, confinement);
	json_put_str(object, "cgroup", buf_str(&text));
}

static void put_shares(json_t *object, const struct shares *shares)
{
	json_t *list = json_array();
	const struct policy_share *share;

	for (size_t i = 0; (share = shares_at(shares, i)) != NULL; i++) {
		json_t *item = json_object();

		json_put_str(item, "path", share->path);
		json_put_bool(item, "writable", share->writable);
		json_append(list, item);
	}
	json_put(object, "shares", list);
}

static void put_explanation(json_t *object, const struct confinement_facts *facts)
{
	const char *seen = confinement_proc_notice(facts->report);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&text, facts->refusal != NULL ? facts->refusal
					       : confinement_tier_text(facts->tier, facts->report));
	if (facts->refusal == NULL && seen != NULL)
		buf_putf(&text, " %s", seen);
	json_put_str(object, "explanation", buf_str(&text));
}

json_t *confinement_json_make(const struct confinement *confinement)
{
	const struct confinement_facts facts = confinement_facts(confinement);
	json_t *object = json_object();

	json_put_str(object, "tier",
		     facts.refusal != NULL ? "refused" : policy_tier_name(facts.tier));
	put_explanation(object, &facts);
	json_put_str(object, "floor", policy_tier_name(facts.floor));
	if (facts.report != NULL) {
		put_report(object, facts.report);
		put_verified(object, facts.report, facts.verified_at);
	}
	if (facts.refusal == NULL)
		put_groups(object, confinement);
	if (facts.shares != NULL)
		put_shares(object, facts.shares);
	if (facts.refusal == NULL)
		json_put_bool(object, "unix_sockets", facts.unix_sockets);
	return object;
}
