/* SPDX-License-Identifier: MIT */
/* init.h - the first process of a session's sandbox: forks a minder for each interpreter. */
#ifndef SANDBOX_INIT_H
#define SANDBOX_INIT_H

#include <sys/types.h>

struct init_task {
	int channel; /* to the server */
	int plan;    /* sealed memfd of a policy */
	int workspace;
	pid_t parent; /* whose death ends it */
};

/* The whole life of a process just forked; returns its exit status. Takes the descriptors. */
int init_run(const struct init_task *task);

#endif
