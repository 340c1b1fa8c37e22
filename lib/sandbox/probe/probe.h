/* SPDX-License-Identifier: MIT */
/* probe.h - finds out how this machine can confine sessions, by building throw-away sandboxes. */
#ifndef SANDBOX_PROBE_PROBE_H
#define SANDBOX_PROBE_PROBE_H

#include <sys/types.h>

#include "sandbox/restrict/privdrop.h"

/*
 * Runs as a probe and returns the exit status: sends WIRE_REPORT or WIRE_FAILED over `channel`,
 * which it takes ownership of. The caller must just have been forked from `parent`.
 */
int probe_run(int channel, pid_t parent, const struct privdrop_means *means);

/*
 * For tier bwrap: the first argument of the launcher's program inside, and the function that it
 * calls then, which returns the exit status.
 */
#define PROBE_ROLE "probe"
int probe_run_inside(const struct privdrop_means *means);

#endif
