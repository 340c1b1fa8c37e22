/* SPDX-License-Identifier: MIT */
#include "sandbox/probe.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/report.h"
#include "sandbox/warden.h"
#include "sandbox/wire.h"

/* 0 when the kernel has none, or has it switched off. */
static int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

int probe_run(int channel, pid_t parent)
{
	struct sandbox_report report = { .tier = POLICY_UNCONFINED,
					 .landlock_abi = landlock_abi() };
	struct warden warden;
	struct err err;

	if (warden_close_others((int *const[]){ &channel }, 1, &err) < 0 ||
	    warden_init(&warden, "ptycell-probe", channel, parent, &err) < 0) {
		wire_tell(channel, WIRE_FAILED, &err);
		return 1;
	}
	(void)err_set(&err, ERR_UNSUPPORTED, "this build does not confine");
	for (enum policy_tier tier = POLICY_LANDLOCK; tier < POLICY_TIERS; tier++)
		report_set_reason(&report, tier, &err);
	wire_tell(channel, WIRE_REPORT, &report);
	return 0;
}
