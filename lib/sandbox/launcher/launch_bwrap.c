/* SPDX-License-Identifier: MIT */
/*
 * launch_bwrap.c - the launcher's part of tier bwrap: becomes bwrap, and starts again inside it.
 *
 * bwrap can only exec a program, so init cannot be a plain fork here. The launcher's own program
 * runs a second time in the sandbox, with a role and the number of its descriptors as arguments. It
 * finds channel, plan and folders from BWRAP_FIRST_FD on.
 */
#include <stdlib.h>

#include "sandbox/launcher/launch.h"
#include "sandbox/probe/probe.h"
#include "sandbox/supervise/bwrap.h"

#define ROLE_INIT "init"

enum { DECIMAL = 10 };

int launch_become_bwrap(const struct init_task *task, const struct policy *policy)
{
	struct init_task own = *task;
	int *fds[2 + INIT_FOLDERS_MAX] = { &own.channel, &own.plan };
	const struct bwrap_start start = {
		.role = ROLE_INIT,
		.policy = policy,
		.fds = fds,
		.fd_count = 2 + own.folder_count,
		.folders = own.folders,
	};
	struct err err;

	for (size_t i = 0; i < own.folder_count; i++)
		fds[2 + i] = &own.folders[i];
	if (bwrap_exec(&start, &err) < 0)
		wire_notify(own.channel, WIRE_FAILED, &err);
	return EXIT_FAILURE;
}

static int init_inside(int fd_count, const struct privdrop_means *means)
{
	struct init_task task = {
		.channel = BWRAP_FIRST_FD, .plan = BWRAP_FIRST_FD + 1, .members = -1, .means = means
	};

	if (fd_count < 2 || fd_count > 2 + INIT_FOLDERS_MAX)
		return EXIT_FAILURE;
	for (int fd = task.plan + 1; fd < BWRAP_FIRST_FD + fd_count; fd++)
		task.folders[task.folder_count++] = fd;
	return init_run(&task);
}

int launch_inside(int argc, char **argv, const struct privdrop_means *means)
{
	if (argc == 3 && str_eq(argv[1], ROLE_INIT))
		return init_inside((int)strtol(argv[2], NULL, DECIMAL), means);
	if (argc == 3 && str_eq(argv[1], PROBE_ROLE))
		return probe_run_inside(means);
	return EXIT_FAILURE;
}
