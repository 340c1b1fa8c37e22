/* SPDX-License-Identifier: MIT */
/*
 * probe_site.h - where throw-away sandboxes are built: a folder of its own with a workspace and a
 * bait, in a place for temporary files.
 *
 * Its lock says that somebody uses it: what a killed probe left is removed by the next one.
 */
#ifndef SANDBOX_PROBE_PROBE_FIXTURE_H
#define SANDBOX_PROBE_PROBE_FIXTURE_H

#include <limits.h>

#include "base/err.h"
#include "sandbox/probe/escapes.h"

struct probe_fixture {
	char folder[PATH_MAX];
	char data[PATH_MAX];
	int folder_fd; /* holds the lock */
	int data_fd;
	struct escapes_bait bait;
};

/* Removes first what others left. On failure nothing is left. */
int probe_fixture_make(struct probe_fixture *ret_site, struct err *err) MUST_CHECK;
void probe_fixture_remove(struct probe_fixture *site);

#endif
