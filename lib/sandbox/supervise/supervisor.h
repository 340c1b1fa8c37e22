/* SPDX-License-Identifier: MIT */
/* supervisor.h - the process above one interpreter: starts it, tells of its end, kills its tree. */
#ifndef SANDBOX_SUPERVISE_SUPERVISOR_H
#define SANDBOX_SUPERVISE_SUPERVISOR_H

#include <sys/types.h>

#include "sandbox/policy.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/wire/plan.h"

struct supervisor_task {
	int channel;   /* to the server */
	int plan;      /* sealed memfd of a plan_start */
	int workspace; /* -1: POLICY_DATA */
	int user_ns;   /* that the interpreter joins; -1: none */
	const struct policy *policy;
	const struct privdrop_means *means;
	pid_t parent; /* whose death ends it */
	/*
	 * NULL: the interpreter is exec'd. Else it is a copy of the calling process: this is called
	 * in it, confined as any other, and supervisor_run returns SUPERVISOR_INTERPRETER there.
	 */
	void (*born)(const struct plan_start *start);
};

enum { SUPERVISOR_INTERPRETER = -1 };

/* The whole life of a process just forked; returns its exit status. Takes the descriptors. */
int supervisor_run(const struct supervisor_task *task);

#endif
