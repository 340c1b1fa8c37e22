/* SPDX-License-Identifier: MIT */
/*
 * ttywait.h - whether a process waits for input on a terminal.
 *
 * Observes the system call of each sleeping thread in a process tree: a read of the terminal, or a
 * poll, select or epoll wait that includes it. The result is a hint, because ssh or a key listener
 * looks the same. Needs the right to trace the processes, which an ancestor of the same user has.
 */
#ifndef SANDBOX_PROCESS_TTYWAIT_H
#define SANDBOX_PROCESS_TTYWAIT_H

#include <stdint.h>
#include <sys/stat.h>

enum ttywait_state {
	TTYWAIT_NO,
	TTYWAIT_YES,     /* a thread reads the terminal */
	TTYWAIT_GUESS,   /* a foreground process sleeps and may not be traced */
	TTYWAIT_STOPPED, /* a background process was stopped because it wants the terminal */
	TTYWAIT_STATES
};

enum { TTYWAIT_NAME_MAX = 16 };

struct ttywait_result {
	int32_t state;   /* enum ttywait_state */
	int32_t process; /* the process of the thread */
	int32_t thread;  /* if two observations name the same thread, they are more certain than one
			  */
	int32_t child;   /* 1: not the interpreter itself; the caller's to set */
	int32_t watches; /* 1: by epoll, which may still include a terminal that no code reads */
	int32_t brief;   /* 1: the wait ends by itself in less than a second */
	uint64_t ran; /* nanoseconds that the thread ever ran; 0 when the kernel does not report it
		       */
	char name[TTYWAIT_NAME_MAX]; /* of the program, NUL-terminated; untrusted */
};

/* Checks all descendants of the calling process. `slave` is the fstat of the terminal. */
struct ttywait_result ttywait_check(const struct stat *slave);

#endif
