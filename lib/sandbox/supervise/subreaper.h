/* SPDX-License-Identifier: MIT */
/*
 * subreaper.h - what launcher, init and supervisor have in common: a single-threaded process that
 * serves one channel and looks after the processes below it.
 *
 * Each is a subreaper, told by a signal when its parent dies and by end-of-file when its channel
 * does, and ends everything below it before it ends itself. The signal is SIGTERM and not
 * SIGKILL, because without a pid namespace nobody else would find a daemon's processes.
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
	SUBREAPER_INIT_GRACE_MS = 150,     /* for supervisors, until they are killed */
	SUBREAPER_LAUNCHER_GRACE_MS = 300, /* for inits */
};

struct subreaper {
	int channel;            /* owned */
	int signals;            /* a signalfd with SIGCHLD and SIGTERM */
	struct pidlist known;   /* children of its own making; any other is somebody's orphan */
	bool ended;             /* parent or channel is gone, or SIGTERM came */
	bool kills_all;         /* kill(-1) reaches what is below it, all of it, and nothing else */
	bool obeys_parent_only; /* SIGTERM of others is nothing: a session has the same user */
	void (*reaped)(struct subreaper *subreaper, pid_t pid); /* told of each; may be NULL */
};

/*
 * Turns the calling process, which must have forked from `parent` (0: anybody) and has one
 * thread, into a subreaper: name, subreaper, death signal, signals blocked but for the signalfd.
 */
int subreaper_init(struct subreaper *subreaper, const char *name, int channel, pid_t parent,
		   struct err *err) MUST_CHECK;
/*
 * Closes every descriptor but standard input and output, which lead nowhere, and these, which
 * are renumbered from 3 on and written back. Standard error leads nowhere afterwards too.
 */
int subreaper_close_others(int *const *fds, size_t count, struct err *err) MUST_CHECK;

struct subreaper_wake {
	bool message; /* the channel has a message or its end */
	bool child;   /* one ended; or came, when it is an orphan */
	bool extra;
};

/* Waits for a message, a child, or input on `extra_fd` (-1: none). */
struct subreaper_wake subreaper_wait(struct subreaper *subreaper, int extra_fd, int timeout_ms);
/*
 * 1 with a message (the caller releases it), 0 when there is none. The end of the channel and a
 * malformed message, which only an attacker can have sent, set `ended`.
 */
int subreaper_receive(struct subreaper *subreaper, struct wire_message *ret_message);
/* Reaps one ended child: its pid, 0 when none has ended, -1 when there is no child at all. */
pid_t subreaper_reap(struct subreaper *subreaper, int *ret_wait_status);

typedef void subreaper_fn(struct subreaper *subreaper, const struct wire_message *message);
/* Hands messages to `fn` and kills orphans, until the end; then ends everything. */
void subreaper_serve(struct subreaper *subreaper, subreaper_fn *fn, unsigned int grace_ms);
/* Frees what the struct owns, the channel included. */
void subreaper_release(struct subreaper *subreaper);

#endif
