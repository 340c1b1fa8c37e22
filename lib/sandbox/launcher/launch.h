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
 * For tier bwrap. The first is the whole life of a child that becomes bwrap; it returns only after
 * a failure that it has reported to the server. The program that bwrap executes in the sandbox is
 * this one again: launch_inside is called there with the arguments of main(). Both return the exit
 * status.
 */
int launch_become_bwrap(const struct init_task *task, const struct policy *policy);
int launch_inside(int argc, char **argv, const struct privdrop_means *means);

#endif
