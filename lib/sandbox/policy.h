/* SPDX-License-Identifier: MIT */
/*
 * policy.h - what a session's sandbox allows, as data.
 *
 * The server fills it in, sandbox/plan.h makes bytes of it, the launcher carries them out. Start
 * from policy_init: a field added later then has its safe value.
 */
#ifndef SANDBOX_POLICY_H
#define SANDBOX_POLICY_H

#include <stdint.h>

/* For the limits below: whatever the server itself was given. */
#define POLICY_NO_LIMIT UINT64_MAX

struct policy {
	uint64_t open_files_max;  /* of one process; its soft limit is at most 1,024 */
	uint64_t file_max;        /* bytes of one file */
	uint64_t memory_max;      /* bytes of one process: RLIMIT_DATA, see payload.c */
	uint64_t processes_max;   /* of the user */
	uint64_t cpu_seconds_max; /* of one process */
};

/* 4,096 open files, nothing else limited. Core dumps are always off. */
void policy_init(struct policy *policy);

#endif
