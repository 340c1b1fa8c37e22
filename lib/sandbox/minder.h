/* SPDX-License-Identifier: MIT */
/* minder.h - the process above one interpreter: starts it, tells of its end, kills its tree. */
#ifndef SANDBOX_MINDER_H
#define SANDBOX_MINDER_H

#include <sys/types.h>

#include "sandbox/confine.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"

struct minder_task {
	int channel;   /* to the server */
	int plan;      /* sealed memfd of a plan_start */
	int workspace; /* -1: POLICY_DATA */
	int user_ns;   /* that the interpreter joins; -1: none */
	const struct policy *policy;
	const struct confine_means *means;
	pid_t parent; /* whose death ends it */
	/*
	 * NULL: the interpreter is exec'd. Else it is a copy of the calling process: this is called
	 * in it, confined as any other, and minder_run returns MINDER_INTERPRETER there.
	 */
	void (*born)(const struct plan_start *start);
};

enum { MINDER_INTERPRETER = -1 };

/* The whole life of a process just forked; returns its exit status. Takes the descriptors. */
int minder_run(const struct minder_task *task);

#endif
