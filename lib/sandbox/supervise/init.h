/* SPDX-License-Identifier: MIT */
/*
 * init.h - the first process of a session's sandbox: builds what confines all of it, then forks a
 * supervisor for each interpreter.
 *
 * In tier namespaces it is pid 1, keeps its capabilities in the first user namespace, cannot be
 * looked into, and holds no descriptors but its channel, the second user namespace and, nested in
 * a nursery, its plan and the means to take processes into its control group. There an interpreter
 * is forked from a parent when the server names one and that answers, with a supervisor that
 * becomes init's child; else from init, as everywhere. The supervisor is born in the parent's
 * group, waits, and goes on only when it is in that of init: nothing of a session is ever outside
 * of it.
 */
#ifndef SANDBOX_SUPERVISE_INIT_H
#define SANDBOX_SUPERVISE_INIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/namespaces/uid_map.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/wire/wire.h"

/* And the folder of the control group, until init is forked. */
enum { INIT_FOLDERS_MAX = WIRE_SANDBOX_FDS_MAX - WIRE_SANDBOX_DATA };

struct init_task {
	int channel; /* to the server */
	int plan;    /* sealed memfd of a policy */
	/* Those that the policy names, in the order of wire.h: the workspace first. */
	int folders[INIT_FOLDERS_MAX];
	size_t folder_count;
	int group;          /* the folder of its control group; -1: the launcher's. Borrowed */
	int members;        /* of it, for cgroup_move; -1: none are forked elsewhere */
	pid_t parent;       /* whose death ends it */
	struct uid_map map; /* what uid_map_choose said for the workspace */
	uint32_t idmapped;  /* shares whose descriptor is what idmap_shares made of it */
	const struct privdrop_means *means;
};

/* How many the policy names. */
size_t init_count_folders(const struct policy *policy);
/* The whole life of a process just forked; returns its exit status. Takes the descriptors. */
int init_run(const struct init_task *task);

#endif
