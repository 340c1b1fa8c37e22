/* SPDX-License-Identifier: MIT */
/* probe.h - finds out what this machine gives a sandbox by building throw-away ones. */
#ifndef SANDBOX_PROBE_PROBE_H
#define SANDBOX_PROBE_PROBE_H

#include <sys/types.h>

#include "sandbox/restrict/privdrop.h"

/*
 * The whole life of a process just forked from `parent`: sends WIRE_REPORT or WIRE_FAILED over
 * `channel`, which it takes, and returns its exit status.
 */
int probe_run(int channel, pid_t parent, const struct privdrop_means *means);

/* For tier bwrap: the first argument of the program inside, and what it does then. */
#define PROBE_ROLE "probe"
int probe_run_inside(const struct privdrop_means *means);

#endif
