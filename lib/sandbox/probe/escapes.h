/* SPDX-License-Identifier: MIT */
/*
 * escapes.h - escape tests: attempts at what a session must not be able to do, from where its code
 * runs.
 *
 * A layer counts as active because its escape tests were stopped, not because a system call
 * returned 0. The caller lays a bait outside the sandbox. A child inside, confined like an
 * interpreter but before its exec, runs the tests against it.
 */
#ifndef SANDBOX_PROBE_ESCAPES_H
#define SANDBOX_PROBE_ESCAPES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Names in the bait's folder. One test makes the first in the workspace too, briefly. */
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
	ESCAPES_COUNT
};

/* The bait outside. It owns everything in here. */
struct escapes_bait {
	char folder[PATH_MAX];
	pid_t victim; /* a process of the same user that may be traced */
	int victim_fd;
	int loopback; /* listens on 127.0.0.1 */
	uint16_t port;
	int abstract; /* listens on an abstract socket named by `folder` */
	int socket;   /* listens in `folder` */
	int master;   /* a terminal */
	int slave;
};

/* Bits are 1U << enum escapes. */
struct escapes_result {
	uint32_t tried;
	uint32_t escaped;
};

/*
 * Lays the bait in `folder`, an absolute path that the caller owns and only this bait uses. Returns
 * -1 and sets *err.
 */
int escapes_lay(struct escapes_bait *ret_bait, const char *folder, struct err *err) MUST_CHECK;
/* Ends the victim and removes the files, but not the folder. A zeroed bait is allowed. */
void escapes_release(struct escapes_bait *bait);

/*
 * Runs all tests in the calling process, which must exit afterwards. `workspace` is the session's
 * folder as seen inside. Takes under a millisecond.
 */
struct escapes_result escapes_run(const struct escapes_bait *bait, const char *workspace);
/*
 * Returns whether the calling process, which is where escapes_run is called, sees the victim in
 * /proc: its command line can be read there.
 */
bool escapes_sees_victim(const struct escapes_bait *bait);
/* Returns what a test does when it escapes: "reads a file outside". */
const char *escapes_name(enum escapes escape);

#endif
