/* SPDX-License-Identifier: MIT */
/* confinement_text.c - tables of texts, indexed by layer and tier. */
#include "confinement/confinement_text.h"

#include <stddef.h>

#include "confinement/confinement.h"
#include "proc/cgroups.h"

const char *confinement_layer_name(enum report_layer layer)
{
	static const char *const names[LAYERS] = {
		[LAYER_USER_NAMESPACE] = "user namespace",
		[LAYER_MOUNT_NAMESPACE] = "own root",
		[LAYER_PID_NAMESPACE] = "own processes",
		[LAYER_NET_NAMESPACE] = "own network",
		[LAYER_IPC_NAMESPACE] = "own ipc",
		[LAYER_UTS_NAMESPACE] = "own host name",
		[LAYER_CGROUP_NAMESPACE] = "own cgroups",
		[LAYER_SECOND_USER_NAMESPACE] = "second user namespace",
		[LAYER_PRIVATE_PROC] = "own /proc",
		[LAYER_PRIVATE_PTY] = "own terminals",
		[LAYER_NO_CAPABILITIES] = "no capabilities",
		[LAYER_NO_NEW_PRIVILEGES] = "no new privileges",
		[LAYER_KEYRING] = "own keyring",
		[LAYER_LANDLOCK] = "landlock",
		[LAYER_SECCOMP] = "seccomp",
		[LAYER_KILL_GROUP] = "kill group",
		[LAYER_CGROUP_LIMITS] = "cgroup limits",
		[LAYER_OWN_INODES] = "own inodes",
		[LAYER_HIDDEN_PROCESSES] = "hidden processes",
	};

	return names[layer];
}

static bool hides_processes(const struct sandbox_report *report)
{
	return report != NULL && (report->layers & BIT(LAYER_HIDDEN_PROCESSES)) != 0;
}

/* LANDLOCK_LACKS is what code in tier landlock can see and do outside. */
#define LANDLOCK_LACKS                                                                             \
	"addresses of the machine's connections, names of kernel keys, and sizes, times and "      \
	"links of the user's files, and change modes, times and groups of these, but not see "     \
	"what is in any."

const char *confinement_tier_text(enum policy_tier tier, const struct sandbox_report *report)
{
	static const char *const texts[POLICY_TIERS] = {
		[POLICY_UNCONFINED] =
			"Code runs as the user who started the server, with that user's files and "
			"network, because of the flag --unconfined.",
		[POLICY_LANDLOCK] =
			"Code can write its own folder only and read the system's programs; it has "
			"no network of its own. It can see names and command lines of the user's "
			"other processes, " LANDLOCK_LACKS,
		[POLICY_BWRAP] = "Code sees a small system of its own, made by bwrap: its folder, "
				 "its /tmp, its processes, nothing of the user's but the shares.",
		[POLICY_NAMESPACES] = "Code sees a small system of its own: its folder, its /tmp, "
				      "its processes and terminals, nothing of the user's but "
				      "the shares.",
	};

	if (tier == POLICY_LANDLOCK && hides_processes(report))
		return "Code can write its own folder only and read the system's programs; it has "
		       "no network of its own. It can see " LANDLOCK_LACKS;
	return texts[tier];
}

void confinement_groups_text(struct buf *out, const struct confinement *confinement)
{
	static const struct {
		enum cgroup_controller controller;
		const char *text;
	} rows[] = {
		{ CGROUP_MEMORY, "limits memory" },
		{ CGROUP_PIDS, "limits processes" },
		{ CGROUP_CPU, "shares the processor" },
	};
	const struct confinement_facts facts = confinement_facts(confinement);
	const struct cgroups *groups = facts.groups;
	const char *lead = "";

	if (groups == NULL) {
		buf_putf(out, "none: %s", facts.group_problem);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if ((cgroups_controllers(groups) & BIT(rows[i].controller)) == 0)
			continue;
		buf_putf(out, "%s%s", lead, rows[i].text);
		lead = ", ";
	}
	if (cgroups_can_kill(groups))
		buf_putf(out, "%sends sessions", lead);
}

const char *confinement_tier_notice(enum policy_tier tier, const struct sandbox_report *report)
{
	static const char *const texts[POLICY_TIERS] = {
		[POLICY_UNCONFINED] = "Nothing confines the code here (--unconfined): it can read, "
				      "change and send whatever the user can.",
		[POLICY_LANDLOCK] = "Confinement here is the weakest tier, landlock: code can see "
				    "names and command lines of the user's processes and "
				    "change the modes and times of the user's files.",
		[POLICY_BWRAP] = "Confinement here is made by bwrap, one step below the strongest.",
	};

	if (tier == POLICY_LANDLOCK && hides_processes(report))
		return "Confinement here is the weakest tier, landlock: code can change the modes "
		       "and times of the user's files.";
	return texts[tier];
}

const char *confinement_proc_notice(const struct sandbox_report *report)
{
	if (report == NULL || report->tier != POLICY_NAMESPACES ||
	    (report->layers & BIT(LAYER_PRIVATE_PROC)) != 0 || hides_processes(report))
		return NULL;
	return "Parts of the machine's /proc are masked, so a session cannot have a /proc of its "
	       "own: code can see names and command lines of all processes. In Docker, the "
	       "option --security-opt systempaths=unconfined removes the masks.";
}
