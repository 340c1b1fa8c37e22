/* SPDX-License-Identifier: MIT */
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
