/* SPDX-License-Identifier: MIT */
/*
 * proctree.h - the processes below the caller.
 *
 * Read from /proc/PID/task/TID/children, or from the parents in /proc/PID/stat where the kernel
 * lacks those files. A tree that changes meanwhile may hide a process from one call. A caller that
 * kills must therefore repeat until waitpid finds no child. The tree of a subreaper includes its
 * orphans. Where /proc hides processes (hidepid), a hidden child of a hidden process is not found
 * before its parent has ended.
 */
#ifndef SANDBOX_PROCESS_PROCTREE_H
#define SANDBOX_PROCESS_PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"

/* Sets *ret_list, an initialised list, to the caller's direct children. */
void proctree_children(struct pidlist *ret_list);
/*
 * Sets *ret_list to all descendants of the caller, parents before children, zombies included. Their
 * numbers are those of /proc, which differ from kill()'s where a sandbox has no /proc of its own.
 */
void proctree_descendants(struct pidlist *ret_list);
/* Does the same, and sets *ret_parents to the parent of each, as /proc numbers them. */
void proctree_list(struct pidlist *ret_list, struct pidlist *ret_parents);
/*
 * Returns whether the process runs and /proc hides it from the caller (hidepid), as it does with
 * one that cannot be traced. Returns false where numbers differ: whether it runs is not known
 * there.
 */
bool proctree_hides(pid_t listed);
/* Returns the number that kill() takes for a number of /proc; 0 when the process is gone. */
pid_t proctree_number(pid_t listed);
/*
 * Returns a descriptor that holds the process, which the caller closes; -1 when it is gone.
 * `number` is kill()'s, `listed` that of /proc. It is a pidfd, or the process's folder in /proc
 * where a seccomp filter forbids pidfds. pidfd_send_signal() takes both, poll() only a pidfd.
 */
int proctree_hold(pid_t number, pid_t listed);
/* Sends a signal to all descendants. */
void proctree_signal(int signo);
/* Returns the number of descendants that are not zombies. */
size_t proctree_count_live(void);

/* Some fields of /proc/PID[/task/TID]/stat. */
struct proctree_stat {
	char state;
	pid_t parent;
	pid_t group;
	int tty;
	pid_t foreground; /* process group of that tty */
};

/* Reads the stat file at `path`. Returns false when the process is gone. */
bool proctree_stat(const char *path, struct proctree_stat *ret_stat);
/*
 * Calls `fn` for each descriptor of the process, by its name in /proc/PID/fd, which is open as
 * `dir_fd`.
 */
void proctree_each_descriptor(pid_t pid,
			      void (*fn)(void *data, pid_t pid, int dir_fd, const char *name),
			      void *data);
/* Reads a small file of /proc as a string, cut to `size`. Returns false when it cannot be read. */
bool proctree_read(const char *path, char *ret_text, size_t size);

#endif
