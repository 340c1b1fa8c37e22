/* SPDX-License-Identifier: MIT */
/*
 * probe_fixture.h - the place where throw-away sandboxes are built: a folder for temporary files
 * with a workspace and a bait.
 *
 * A lock marks it as in use. The folder of a killed probe is removed by the next one.
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

/*
 * Makes the fixture, and removes stale ones first. Returns -1 and sets *err; nothing is left then.
 */
int probe_fixture_make(struct probe_fixture *ret_fixture, struct err *err) MUST_CHECK;
/* Ends the bait and removes the folder. */
void probe_fixture_remove(struct probe_fixture *fixture);

#endif
