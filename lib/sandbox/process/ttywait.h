/* SPDX-License-Identifier: MIT */
/*
 * ttywait.h - is somebody waiting for input on this terminal?
 *
 * Looks at the system call that each sleeping thread of a process tree sits in: a read of the
 * terminal, or a poll, select or epoll wait that includes it. A hint: ssh or a key listener
 * looks the same. Needs the right to trace the processes (an ancestor of the same user has it).
 */
#ifndef SANDBOX_PROCESS_TTYWAIT_H
#define SANDBOX_PROCESS_TTYWAIT_H

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

enum { TTYWAIT_NAME_MAX = 16 };

struct ttywait_result {
	int32_t state;   /* enum ttywait_state */
	int32_t process; /* whose thread it is */
	int32_t thread;  /* two looks that name the same are surer than one */
	int32_t child;   /* 1: not the interpreter's own */
	int32_t watches; /* 1: by epoll, where a terminal may stay that nobody reads any more */
	int32_t brief;   /* 1: for less than a second, and then it goes on by itself */
	uint64_t ran; /* nanoseconds that the thread ever ran; 0 where the kernel does not tell */
	char name[TTYWAIT_NAME_MAX]; /* of the program, ended by 0; foreign */
};

/* Looks at all descendants of the calling process. `slave` is the fstat of the terminal. */
struct ttywait_result ttywait_check(const struct stat *slave);

#endif
