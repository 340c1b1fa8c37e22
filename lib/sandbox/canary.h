/* SPDX-License-Identifier: MIT */
/*
 * canary.h - tries what a session must not be able to do, from where its code would.
 *
 * A layer counts as active because the canary was stopped, not because a call returned 0. Outside
 * of the sandbox somebody lays a bait; a child that is confined like an interpreter, but has not
 * exec'd anything, runs the canary against it.
 */
#ifndef SANDBOX_CANARY_H
#define SANDBOX_CANARY_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* What the bait's folder holds; a canary makes the first in the workspace too, for a moment. */
#define CANARY_FILE "canary"
#define CANARY_SOCKET "canary.sock"

enum canary {
	CANARY_READ,
	CANARY_WRITE,
	CANARY_LOOPBACK,
	CANARY_ABSTRACT_SOCKET,
	CANARY_FILE_SOCKET,
	CANARY_SIGNAL,
	CANARY_TRACE,
	CANARY_ENVIRONMENT,
	CANARY_LIMIT,
	CANARY_CAPABILITY,
	CANARY_KEYRING,
	CANARY_TERMINAL,
	CANARY_CRYPTO,
	CANARY_IO_URING,
	CANARY_MEMFD,
	CANARY_SET_ID,
	CANARY_MOUNT,
	CANARY_NAMESPACE,
	CANARIES
};

/* What lies outside. Everything in it is the bait's. */
struct canary_bait {
	char folder[PATH_MAX];
	pid_t victim; /* an ordinary process of the same user, which others may look into */
	int victim_fd;
	int loopback; /* listens on 127.0.0.1 */
	uint16_t port;
	int abstract; /* listens without a path, under `folder` as its name */
	int socket;   /* listens in `folder` */
	int master;   /* a terminal */
	int slave;
};

/* Bits are 1U << enum canary. */
struct canary_result {
	uint32_t tried;
	uint32_t through;
};

/* `folder`, absolute, is one of the caller's that only this bait uses. */
int canary_lay(struct canary_bait *ret_bait, const char *folder, struct err *err) MUST_CHECK;
/* Ends the victim and removes the files; not the folder. One that was never laid is all zeroes. */
void canary_release(struct canary_bait *bait);

/*
 * Runs all of them in the calling process, which is good for nothing else afterwards. `workspace`
 * is the session's folder, as it is called inside. Under a millisecond.
 */
struct canary_result canary_run(const struct canary_bait *bait, const char *workspace);
/* What it did when it got through: "reads a file outside". */
const char *canary_name(enum canary canary);

#endif
