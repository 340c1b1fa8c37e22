/* SPDX-License-Identifier: MIT */
/*
 * trusted_config.c - asks shares_may_change(), which also covers the links that lead to the file,
 * and logs an ignored file.
 */
#include "install/trusted_config.h"

#include "base/log.h"
#include "confinement/shares.h"

bool trusted_config_holds(const struct shares *shares, const char *path)
{
	if (!shares_may_change(shares, path))
		return true;
	log_warn("install", "'%s' is passed over: code may change it, because of a share with :rw",
		 path);
	return false;
}
