/* SPDX-License-Identifier: MIT */
/* supervisor.h - the process above one interpreter: starts it, reports its end, kills its tree. */
#ifndef SANDBOX_SUPERVISE_SUPERVISOR_H
#define SANDBOX_SUPERVISE_SUPERVISOR_H

#include <sys/types.h>

#include "sandbox/policy.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/wire/plan.h"

struct supervisor_task {
	int channel;   /* to the server */
	int plan;      /* sealed memfd of a plan_start */
	int workspace; /* working folder; -1: POLICY_DATA */
	int user_ns;   /* joined by the interpreter; -1: none */
	const struct policy *policy;
	const struct privdrop_means *means;
	pid_t parent; /* init; its death ends the supervisor */
	/*
	 * NULL: the interpreter is exec'd. Otherwise it is a fork of the calling process: `born` is
	 * called in it once it is confined, and supervisor_run returns SUPERVISOR_INTERPRETER
	 * there.
	 */
	void (*born)(const struct plan_start *start);
};

enum { SUPERVISOR_INTERPRETER = -1 };

/*
 * Runs as supervisor until the interpreter's tree is gone; returns the exit status. The caller must
 * just have been forked. Takes ownership of the descriptors.
 */
int supervisor_run(const struct supervisor_task *task);

#endif
