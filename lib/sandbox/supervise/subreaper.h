/* SPDX-License-Identifier: MIT */
/*
 * subreaper.h - the common part of launcher, init and supervisor: a process with one thread that
 * serves one channel and kills all processes below it at its end.
 *
 * Each is a subreaper (PR_SET_CHILD_SUBREAPER). It ends when its parent dies, by a death signal, or
 * when its channel ends, and kills everything below before that. The death signal is SIGTERM and
 * not SIGKILL, because without a pid namespace no other process would find daemonised children. An
 * init that is pid 1 gets SIGKILL: the kernel then ends its whole namespace.
 */
#ifndef SANDBOX_SUPERVISE_SUBREAPER_H
#define SANDBOX_SUPERVISE_SUBREAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/process/proctree.h"
#include "sandbox/wire/wire.h"

enum {
	SUBREAPER_INIT_GRACE_MS = 150,     /* for supervisors to end, until they are killed */
	SUBREAPER_LAUNCHER_GRACE_MS = 300, /* for inits to end */
};

struct subreaper {
	int channel;            /* owned */
	int signals;            /* a signalfd with SIGCHLD and SIGTERM */
	struct pidlist known;   /* children that it forked; any other child is an orphan */
	bool ended;             /* parent or channel is gone, or SIGTERM came */
	bool kills_all;         /* kill(-1) reaches all processes below, and no others */
	bool obeys_parent_only; /* ignores SIGTERM of others: session code has the same user */
	/* Called for each reaped child. May be NULL. */
	void (*reaped)(struct subreaper *subreaper, pid_t pid);
};

/*
 * Turns the calling process into a subreaper: sets name, subreaper flag and death signal, forbids
 * tracing it, and blocks all signals. The signalfd delivers two of them. It must have one thread
 * and must have been forked from `parent` (0: not checked). Returns -1 and sets *err.
 */
int subreaper_init(struct subreaper *subreaper, const char *name, int channel, pid_t parent,
		   struct err *err) MUST_CHECK;
/*
 * Closes all descriptors but standard input and output and the given ones, which are renumbered
 * from 3 on and written back. Standard error becomes a copy of standard output, which is /dev/null.
 * Returns -1 and sets *err.
 */
int subreaper_close_others(int *const *fds, size_t count, struct err *err) MUST_CHECK;

struct subreaper_wake {
	bool message; /* the channel has a message or its end */
	bool child;   /* a child has ended, or an orphan may have come */
	bool extra;   /* `extra_fd` has input or its end */
};

/* Waits for a message, a child, or input on `extra_fd` (-1: none). */
struct subreaper_wake subreaper_wait(struct subreaper *subreaper, int extra_fd, int timeout_ms);
/*
 * Returns 1 with a message, which the caller releases, or 0 when there is none. The channel's end
 * sets `ended`, and so does a malformed message, which an attacker or another version sends.
 */
int subreaper_receive(struct subreaper *subreaper, struct wire_message *ret_message);
/* Reaps one ended child. Returns its pid, 0 when none has ended, -1 when there is no child. */
pid_t subreaper_reap(struct subreaper *subreaper, int *ret_wait_status);

typedef void subreaper_fn(struct subreaper *subreaper, const struct wire_message *message);
/* Passes messages to `fn` and kills orphans until `ended` is set; then ends all processes below. */
void subreaper_serve(struct subreaper *subreaper, subreaper_fn *fn, unsigned int grace_ms);
/* Frees the members, and closes the channel. */
void subreaper_release(struct subreaper *subreaper);

#endif
