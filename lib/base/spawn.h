/* SPDX-License-Identifier: MIT */
/* spawn.h - starts a program with exactly the descriptors and the environment that it is given. */
#ifndef BASE_SPAWN_H
#define BASE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/util.h"

enum {
	SPAWN_FDS_MAX = 16,
	SPAWN_NULL = -1, /* in `fds`: /dev/null */
};

/* All of it is borrowed for the call. */
struct spawn {
	const char *path;
	int program;       /* open (O_PATH): started in place of the file at `path`; -1: none */
	char *const *argv; /* NULL-terminated */
	char *const *envp; /* the whole environment, NULL-terminated */
	const int *fds;    /* become 0, 1, 2, ... */
	size_t fd_count;   /* at most SPAWN_FDS_MAX */
	bool new_session;  /* setsid: signals of the server's terminal do not reach it */
};

/*
 * Starts the program with no signal blocked or ignored. No other descriptor of the caller reaches
 * it. Returns 0 and sets *ret_pid; the caller reaps it. Returns -1 and sets *err on failure.
 */
int spawn_start(const struct spawn *spawn, pid_t *ret_pid, struct err *err) MUST_CHECK;

#endif
