/* SPDX-License-Identifier: MIT */
/*
 * launch.h - the main loop of ptycell-launcher: forks an init for each sandbox that the server
 * requests.
 */
#ifndef SANDBOX_LAUNCHER_LAUNCH_H
#define SANDBOX_LAUNCHER_LAUNCH_H

#include "base/err.h"
#include "sandbox/policy.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/supervise/init.h"

/* The descriptor number of the launcher's channel to the server. */
enum { LAUNCH_CHANNEL = 3 };

/*
 * Serves the channel until the server is gone and no process of any sandbox is left. The caller
 * must have one thread. `means` is borrowed; it is privdrop_whole except in tests.
 */
int launch_run(int channel, const struct privdrop_means *means, struct err *err) MUST_CHECK;

/*
 * Becomes bwrap, in a child that was forked for that (tier bwrap). Returns only after a failure,
 * which it has reported to the server: the exit status.
 */
int launch_become_bwrap(const struct init_task *task, const struct policy *policy);
/*
 * Runs inside, where bwrap executes the launcher's program again. Takes the arguments of main() and
 * returns the exit status.
 */
int launch_inside(int argc, char **argv, const struct privdrop_means *means);

#endif
