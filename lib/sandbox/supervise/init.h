/* SPDX-License-Identifier: MIT */
/*
 * init.h - the first process of a session's sandbox: builds what confines the whole session, then
 * forks a supervisor for each interpreter.
 *
 * In tier namespaces init is pid 1, keeps its capabilities in the first user namespace, and cannot
 * be traced. It holds only its channel and the second user namespace.
 *
 * Inside a zygote sandbox (policy.nested) init also holds its plan, and the file that moves
 * processes into its control group. The interpreter is then forked from the zygote that the server
 * names, and its supervisor becomes init's child. Everywhere else, and when the zygote does not
 * reply, init forks the supervisor.
 */
#ifndef SANDBOX_SUPERVISE_INIT_H
#define SANDBOX_SUPERVISE_INIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/namespaces/uid_map.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/wire/wire.h"

/* One more is the folder of the control group, until init has been forked. */
enum { INIT_FOLDERS_MAX = WIRE_SANDBOX_FDS_MAX - WIRE_SANDBOX_DATA };

struct init_task {
	int channel; /* to the server */
	int plan;    /* sealed memfd of a policy */
	/* The folders that the policy names, in the order of wire.h; the first is the workspace. */
	int folders[INIT_FOLDERS_MAX];
	size_t folder_count;
	int group;    /* borrowed folder of its control group; -1: the launcher's group */
	int members;  /* of that group, for cgroup_move; -1: no zygote forks for this sandbox */
	pid_t parent; /* the launcher; its death ends init */
	struct uid_map map; /* from uid_map_choose for the workspace */
	uint32_t idmapped;  /* bits of shares whose descriptor was made by idmap_shares */
	const struct privdrop_means *means;
};

/* Returns how many folders the policy names. */
size_t init_count_folders(const struct policy *policy);
/*
 * Runs as init until the sandbox ends; returns the exit status. The caller must just have been
 * forked. Takes ownership of the descriptors.
 */
int init_run(const struct init_task *task);

#endif
