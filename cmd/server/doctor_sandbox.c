/* SPDX-License-Identifier: MIT */
/*
 * doctor_sandbox.c - starts the launcher, waits for its probe and prints what the report has.
 *
 * That is the tier, its layers, the results of the escape tests, and why no stronger tier was
 * possible.
 */
#include "doctor_sandbox.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "confinement/confinement_text.h"
#include "confinement/hints.h"
#include "doctor.h"
#include "event/loop.h"
#include "helper/helper.h"
#include "proc/launcher.h"
#include "report_lines.h"
#include "sandbox/probe/escapes.h"

static void report_layers(const struct sandbox_report *report)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	for (unsigned int i = 0; i < LAYERS; i++) {
		if ((report->layers & BIT(i)) == 0)
			continue;
		if (line.len > 70) {
			report_line("", "%s,", buf_str(&line));
			buf_clear(&line);
		}
		buf_putf(&line, "%s%s", line.len > 0 ? ", " : "",
			 confinement_layer_name((enum report_layer)i));
		if (i == LAYER_LANDLOCK)
			buf_putf(&line, " (ABI %d)", (int)report->landlock_abi);
	}
	if (line.len > 0)
		report_line("", "%s", buf_str(&line));
}

static void report_escape_tests(const struct sandbox_report *report)
{
	if (report->escape_tests == 0)
		return;
	report_line("", "tried just now: %u of %u attempts to break out were stopped",
		    report->escape_tests - (unsigned int)__builtin_popcount(report->escaped),
		    report->escape_tests);
	for (unsigned int i = 0; i < ESCAPES_COUNT; i++)
		if ((report->escaped & BIT(i)) != 0)
			report_line("", "NOT stopped: one that %s", escapes_name((enum escapes)i));
}

/* Prints why each stronger tier is not available. */
static void report_reasons(const struct sandbox_report *report)
{
	for (int tier = POLICY_TIERS - 1; tier > report->tier; tier--) {
		cleanup_free char *line =
			xasprintf("not %s: %s", policy_tier_name((enum policy_tier)tier),
				  report->reason[tier]);

		if (report->reason[tier][0] != '\0')
			report_text("", line);
	}
}

static void report_advice(const struct sandbox_report *report)
{
	cleanup_buf struct buf advice = BUF_INIT(BUF_UNBOUNDED);
	struct hints_machine machine;

	hints_inspect("", &machine);
	hints_write(&advice, report, &machine);
	report_text("", buf_str(&advice));
}

static void report_shares(const struct confinement *confinement)
{
	const struct shares *shares = confinement_facts(confinement).shares;
	const struct policy_share *share;

	if (shares == NULL)
		return;
	if (shares_count(shares) == 0)
		report_line("shares", "none of your folders; --share FOLDER lets code read one");
	for (size_t i = 0; (share = shares_at(shares, i)) != NULL; i++) {
		cleanup_free char *path = report_quote_path(share->path);

		report_line(i == 0 ? "shares" : "", "%s: code may read%s", path,
			    share->writable ? " and change it" : "");
	}
}

/* Says what is not measured without a control group that counts memory. */
static void report_unmeasured(const struct confinement_facts *facts)
{
	const struct sandbox_report *report = facts->report;

	if (report == NULL || report->tier != POLICY_LANDLOCK ||
	    (report->layers & BIT(LAYER_HIDDEN_PROCESSES)) == 0 ||
	    (report->layers & BIT(LAYER_CGROUP_LIMITS)) != 0)
		return;
	report_text("",
		    "/proc hides processes here (hidepid): programs that cannot be traced, such as "
		    "ssh-agent, count for processes_max, but no limit counts their memory. In a "
		    "control group of ptycell's own the kernel counts it.");
}

/* Explains cgroups only to users whose sessions have none. */
static void report_groups(const struct confinement *confinement)
{
	const struct confinement_facts facts = confinement_facts(confinement);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	confinement_groups_text(&text, confinement);
	report_line("cgroup", "%s", buf_str(&text));
	report_unmeasured(&facts);
	if (facts.groups != NULL)
		return;
	report_line("", "so ptycell looks twice a second what each session uses");
	if (access("/run/systemd/system", F_OK) == 0)
		report_text("",
			    "For limits that the kernel holds, let your chat program start this:\n"
			    "  systemd-run --user --scope -p Delegate=yes ptycell\n");
}

static void report_tier(const char *topic, const char *lead, enum policy_tier tier,
			const struct sandbox_report *report)
{
	static const char *const ranks[POLICY_TIERS] = {
		[POLICY_UNCONFINED] = ", as you asked",
		[POLICY_LANDLOCK] = ", the weakest of three tiers",
		[POLICY_BWRAP] = ", the second of three tiers",
		[POLICY_NAMESPACES] = ", the strongest of three tiers",
	};

	report_line(topic, "%s%s%s", lead, policy_tier_name(tier), ranks[tier]);
	report_text("", confinement_tier_text(tier, report));
}

static void report_all(const struct confinement *confinement)
{
	const struct confinement_facts facts = confinement_facts(confinement);
	const struct sandbox_report *report = facts.report;
	const char *refusal = facts.refusal;

	if (refusal != NULL) {
		report_text("sandbox", refusal);
		if (report != NULL && report->tier >= POLICY_LANDLOCK && report->escaped == 0)
			report_tier("", "What there is: ", (enum policy_tier)report->tier, report);
	} else {
		report_tier("sandbox", "", facts.tier, report);
		if (confinement_proc_notice(report) != NULL)
			report_text("", confinement_proc_notice(report));
	}
	if (report != NULL) {
		report_layers(report);
		report_escape_tests(report);
		report_reasons(report);
	}
	/* A refusal contains the advice already. */
	if (report != NULL && refusal == NULL)
		report_advice(report);
	if (refusal == NULL) {
		report_groups(confinement);
		report_shares(confinement);
	}
}

static bool settle_and_report(struct loop *loop, struct launcher *launcher,
			      const struct settings *settings)
{
	struct confinement *confinement = confinement_new(loop, launcher, settings);
	bool settled = false;
	bool runs;

	confinement_settle(confinement, doctor_note_end, &settled);
	doctor_turn_until(loop, &settled);
	report_all(confinement);
	runs = confinement_facts(confinement).refusal == NULL;
	launcher_free(launcher);
	confinement_free(confinement);
	return runs;
}

bool doctor_sandbox(const struct settings *settings)
{
	struct err err;
	struct loop *loop = loop_new(clock_ms, &err);
	cleanup_free char *path = loop != NULL ? helper_locate("ptycell-launcher", &err) : NULL;
	bool runs = false;

	if (path != NULL)
		runs = settle_and_report(loop, launcher_new(loop, path), settings);
	else
		report_line("sandbox", "%s", err.msg);
	if (loop != NULL)
		loop_free(loop);
	return runs;
}
