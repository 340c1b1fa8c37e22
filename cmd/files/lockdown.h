/* SPDX-License-Identifier: MIT */
/*
 * lockdown.h - reduces this program's rights to those that its job needs, by landlock.
 *
 * Rights are bits of lockdown/landlock_ruleset.h. Rights that the kernel does not know are left
 * out. Everything that no rule allows is refused, TCP included.
 */
#ifndef FILES_LOCKDOWN_H
#define FILES_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lockdown_rule {
	int fd; /* a folder: the rule holds for it and everything below */
	uint64_t rights;
};

extern const uint64_t lockdown_read; /* read files and folders */
/* the same; also create, write, rename and remove files, and create folders */
extern const uint64_t lockdown_write;
extern const uint64_t lockdown_remove; /* read folders, move and remove anything */
extern const uint64_t lockdown_rename; /* read, and rename anything within its folder */

/*
 * Applies the rules to this process for good. Does nothing where the kernel's landlock is older
 * than `min_abi` (renaming across folders needs 2) or missing: the program then keeps the user's
 * own rights. Returns -1 and sets *err.
 */
int lockdown_files(const struct lockdown_rule *rules, size_t count, int min_abi,
		   struct err *err) MUST_CHECK;

#endif
