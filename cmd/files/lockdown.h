/* SPDX-License-Identifier: MIT */
/*
 * confine.h - the least that this program may do from here on, by landlock.
 *
 * Rights are bits of lockdown/landlock_ruleset.h; those that the kernel does not know yet are left
 * out. Whatever no rule allows is refused, TCP included.
 */
#ifndef FILES_LOCKDOWN_H
#define FILES_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lockdown_rule {
	int fd; /* a folder: it and all below */
	uint64_t rights;
};

extern const uint64_t lockdown_read;   /* read files and folders */
extern const uint64_t lockdown_write;  /* and make, write, rename and remove files, make folders */
extern const uint64_t lockdown_remove; /* read folders, move and remove anything */
extern const uint64_t lockdown_rename; /* read, and rename anything within its folder */

/*
 * Below `min_abi` (renaming across folders needs 2) and without landlock it does nothing: the
 * program then runs with the user's own rights, as everything did before landlock.
 */
int lockdown_files(const struct lockdown_rule *rules, size_t count, int min_abi,
		   struct err *err) MUST_CHECK;

#endif
