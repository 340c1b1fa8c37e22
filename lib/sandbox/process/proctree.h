/* SPDX-License-Identifier: MIT */
/*
 * proctree.h - the processes below the caller.
 *
 * From /proc/PID/task/TID/children where the kernel has it, else from the parents in
 * /proc/PID/stat. A tree that changes meanwhile may hide a process from one look: who kills
 * looks again until waitpid says that there is no child. A subreaper's tree holds its orphans.
 */
#ifndef SANDBOX_PROCESS_PROCTREE_H
#define SANDBOX_PROCESS_PROCTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"

/* Sets *ret_list (an initialised list) to the caller's direct children. */
void proctree_children(struct pidlist *ret_list);
/*
 * All descendants of the caller, parents before children, zombies included, by the numbers that
 * they have in /proc: those of another pid namespace where a sandbox has no /proc of its own.
 */
void proctree_descendants(struct pidlist *ret_list);
/* What kill() takes for such a number; 0 when it is gone. */
pid_t proctree_number(pid_t listed);
/*
 * A pidfd of what kill() knows as `number`, or, where a filter forbids them, the folder of `listed`
 * in /proc: pidfd_send_signal() takes either, poll() only the first. -1 when it is gone.
 */
int proctree_hold(pid_t number, pid_t listed);
/* Signals all descendants. */
void proctree_signal(int signo);
/* Descendants that are no zombies. */
size_t proctree_count_live(void);

/* What /proc/PID[/task/TID]/stat says. */
struct proctree_stat {
	char state;
	pid_t parent;
	pid_t group;
	int tty;
	pid_t foreground; /* group of that tty */
};

/* `path` is that of a stat file. False when the process is gone. */
bool proctree_stat(const char *path, struct proctree_stat *ret_stat);
/* Calls `fn` for each descriptor that /proc/PID/fd lists, by its name in that folder, open as
 * `dir_fd`. */
void proctree_each_descriptor(pid_t pid,
			      void (*fn)(void *data, pid_t pid, int dir_fd, const char *name),
			      void *data);
/* Reads a small file of /proc as a string, cut to `size`. False when it cannot be read. */
bool proctree_read(const char *path, char *ret_text, size_t size);

#endif
