/* SPDX-License-Identifier: MIT */
/* payload.h - the last steps of a forked child on its way to becoming the interpreter. */
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
	int user_ns;   /* joined by the interpreter; -1: none */
	int slave;
	int ends[PLAN_DESCRIPTORS_MAX]; /* the child's ends, in the plan's order */
	int report;                     /* a close-on-exec pipe to the supervisor */
};

/*
 * Starts a session (setsid) with the slave as its controlling terminal. Returns -1 and sets *err.
 */
int payload_take_terminal(const struct payload *payload, struct err *err) MUST_CHECK;
/*
 * Sets limits, joins the second user namespace and calls privdrop_apply, all permanently. The
 * calling process dies with `payload->parent`. Returns -1 and sets *err; the process must then
 * exit.
 */
int payload_drop_privileges(const struct payload *payload, struct err *err) MUST_CHECK;

/*
 * Sets up session, terminal, descriptors, limits, privileges and folder, and execs. On failure it
 * writes a struct err to `report` and exits with status 127; end-of-file there means that the exec
 * happened.
 */
noreturn void payload_exec(const struct payload *payload);
/*
 * Does the same without the exec, for a forked session. Returns on success only: every descriptor
 * but the terminal and the plan's is closed, and the process continues as the interpreter.
 */
void payload_become(const struct payload *payload);

#endif
