/* SPDX-License-Identifier: MIT */
/* launch.h - the launcher's work: forks an init for each sandbox that the server asks for. */
#ifndef SANDBOX_LAUNCHER_LAUNCH_H
#define SANDBOX_LAUNCHER_LAUNCH_H

#include "base/err.h"
#include "sandbox/policy.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/supervise/init.h"

/* The descriptor at which the launcher finds its channel to the server. */
enum { LAUNCH_CHANNEL = 3 };

/*
 * Until the server is gone; then nothing of any sandbox is left. The caller has one thread. `means`
 * is privdrop_whole but in a test's launcher, and borrowed.
 */
int launch_run(int channel, const struct privdrop_means *means, struct err *err) MUST_CHECK;

/*
 * For tier bwrap. The whole life of a child that becomes bwrap: returns only when it could not,
 * having told the server. In the sandbox that it makes (bwrap.h) the program runs once more, as
 * launch_inside with the arguments of main(). Both return the exit status.
 */
int launch_become_bwrap(const struct init_task *task, const struct policy *policy);
int launch_inside(int argc, char **argv, const struct privdrop_means *means);

#endif
