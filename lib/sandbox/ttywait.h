/* SPDX-License-Identifier: MIT */
/*
 * ttywait.h - is somebody waiting for input on this terminal?
 *
 * Looks at the system call that each sleeping thread of a process tree sits in: a read of the
 * terminal, or a poll, select or epoll wait that includes it. A hint: ssh or a key listener
 * looks the same. Needs the right to trace the processes (an ancestor of the same user has it).
 */
#ifndef SANDBOX_TTYWAIT_H
#define SANDBOX_TTYWAIT_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum ttywait_state {
	TTYWAIT_NO,
	TTYWAIT_YES,     /* a thread reads the terminal */
	TTYWAIT_GUESS,   /* a foreground process sleeps and may not be looked into */
	TTYWAIT_STOPPED, /* a background process was stopped because it wants the terminal */
	TTYWAIT_STATES
};

struct ttywait_result {
	int32_t state;  /* enum ttywait_state */
	int32_t thread; /* which one: two checks that name the same are surer than one */
};

/* Looks at all descendants of the calling process. `slave` is the fstat of the terminal. */
struct ttywait_result ttywait_check(const struct stat *slave);

#endif
