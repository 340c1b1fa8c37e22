/* SPDX-License-Identifier: MIT */
/* payload.h - the last steps of a forked child on its way to be the interpreter. */
#ifndef SANDBOX_RESTRICT_PAYLOAD_H
#define SANDBOX_RESTRICT_PAYLOAD_H

#include <stdnoreturn.h>
#include <sys/types.h>

#include "sandbox/restrict/privdrop.h"
#include "sandbox/wire/plan.h"

struct payload {
	const struct plan_start *start;
	const struct policy *policy;
	const struct privdrop_means *means;
	pid_t parent;
	int workspace; /* the working folder when the plan names none; -1: POLICY_DATA */
	int user_ns;   /* to be joined; -1: none */
	int slave;
	int ends[PLAN_DESCRIPTORS_MAX]; /* the child's, in the plan's order */
	int report;                     /* a close-on-exec pipe */
};

/* Starts a session (setsid) with the slave as its terminal. */
int payload_take_terminal(const struct payload *payload, struct err *err) MUST_CHECK;
/*
 * Limits, the second user namespace, and all that confine.h takes: what a program of a session
 * gives up for good. The caller is no other program's yet, and dies with `payload->parent`.
 */
int payload_drop_privileges(const struct payload *payload, struct err *err) MUST_CHECK;

/*
 * Own session, controlling terminal, descriptors, limits, folder, exec. On failure writes a
 * struct err to `report` and exits with status 127; end-of-file there means that exec happened.
 */
noreturn void payload_exec(const struct payload *payload);
/*
 * The same without exec: on success every descriptor but the terminal and the plan's is closed,
 * and the process goes on as the interpreter.
 */
void payload_become(const struct payload *payload);

#endif
