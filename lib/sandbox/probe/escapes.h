/* SPDX-License-Identifier: MIT */
/*
 * canary.h - tries what a session must not be able to do, from where its code would.
 *
 * A layer counts as active because the canary was stopped, not because a call returned 0. Outside
 * of the sandbox somebody lays a bait; a child that is confined like an interpreter, but has not
 * exec'd anything, runs the canary against it.
 */
#ifndef SANDBOX_PROBE_ESCAPES_H
#define SANDBOX_PROBE_ESCAPES_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* What the bait's folder holds; a canary makes the first in the workspace too, for a moment. */
#define ESCAPES_FILE "canary"
#define ESCAPES_SOCKET "canary.sock"

enum escapes {
	ESCAPES_READ,
	ESCAPES_WRITE,
	ESCAPES_LOOPBACK,
	ESCAPES_ABSTRACT_SOCKET,
	ESCAPES_FILE_SOCKET,
	ESCAPES_SIGNAL,
	ESCAPES_TRACE,
	ESCAPES_ENVIRONMENT,
	ESCAPES_LIMIT,
	ESCAPES_CAPABILITY,
	ESCAPES_KEYRING,
	ESCAPES_TERMINAL,
	ESCAPES_CRYPTO,
	ESCAPES_IO_URING,
	ESCAPES_MEMFD,
	ESCAPES_SET_ID,
	ESCAPES_MOUNT,
	ESCAPES_NAMESPACE,
	CANARIES
};

/* What lies outside. Everything in it is the bait's. */
struct escapes_bait {
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

/* Bits are 1U << enum escapes. */
struct escapes_result {
	uint32_t tried;
	uint32_t through;
};

/* `folder`, absolute, is one of the caller's that only this bait uses. */
int escapes_lay(struct escapes_bait *ret_bait, const char *folder, struct err *err) MUST_CHECK;
/* Ends the victim and removes the files; not the folder. One that was never laid is all zeroes. */
void escapes_release(struct escapes_bait *bait);

/*
 * Runs all of them in the calling process, which is good for nothing else afterwards. `workspace`
 * is the session's folder, as it is called inside. Under a millisecond.
 */
struct escapes_result escapes_run(const struct escapes_bait *bait, const char *workspace);
/* What it did when it got through: "reads a file outside". */
const char *escapes_name(enum escapes canary);

#endif
