/* SPDX-License-Identifier: MIT */
/*
 * killgroup.c - joins a landlock domain that holds signals in, and tests whether it does.
 *
 * The test is a kill() with signal 0 to a process of the server. EPERM is the only proof: it means
 * that kill(-1) cannot reach the user's processes either.
 */
#include "sandbox/restrict/killgroup.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

#include "sandbox/restrict/landlock.h"

static bool is_out_of_reach(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == EPERM;
}

int killgroup_join(pid_t outside, int abi, bool *ret_armed, struct err *err)
{
	if (abi >= LANDLOCK_ABI_SIGNALS) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			return err_sys(err, "giving up new rights");
		if (landlock_enter_signal_scope(abi, err) < 0)
			return -1;
	}
	*ret_armed = is_out_of_reach(outside);
	return 0;
}
