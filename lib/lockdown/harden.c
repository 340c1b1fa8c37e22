/* SPDX-License-Identifier: MIT */
/*
 * harden.c - PR_SET_DUMPABLE makes /proc/self of this process root's, so other processes of the
 * same user cannot read its memory or attach to it.
 */
#include "lockdown/harden.h"

#include <sys/prctl.h>
#include <sys/resource.h>

int harden_process(struct err *err)
{
	struct rlimit none = { 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "giving up rights");
	return 0;
}
