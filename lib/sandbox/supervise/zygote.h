/* SPDX-License-Identifier: MIT */
/*
 * zygote.h - an interpreter that runs no session code, and from which sessions' interpreters are
 * forked.
 *
 * A zygote runs in a sandbox of its own (sandbox/namespaces/zygote_namespaces.h): the host's
 * programs read-only, no network, no capability. It has no landlock and no seccomp, because forked
 * sessions could not undo those to take their own. Once it serves it cannot be traced. For each
 * WIRE_FORK on its channel it forks a process that joins the session's namespaces and becomes a
 * supervisor. The supervisor forks the interpreter and confines it as any other: limits, second
 * user namespace, landlock, seccomp. A forked session shares no descriptor with the zygote or with
 * other sessions.
 *
 *   zygote --vfork--> joins --vfork--> in the session --fork--> supervisor --fork--> interpreter
 *
 * The two processes in the middle share the zygote's memory and exit at once, so that pages are
 * copied only once. The supervisor is then a child of the session's init.
 *
 * This is the interface of ptycell-parent.so, which a driver loads into its process.
 */
#ifndef SANDBOX_SUPERVISE_ZYGOTE_H
#define SANDBOX_SUPERVISE_ZYGOTE_H

#include <stddef.h>

enum zygote_outcome {
	ZYGOTE_OVER = 0, /* the channel ended */
	ZYGOTE_INTERPRETER =
		1, /* the caller is a session's interpreter now, with its own environment */
	ZYGOTE_THREADS = 2, /* there is more than one thread, and a fork would lack the others */
	ZYGOTE_WANTED = 3,  /* `wanted` has input: the zygote is needed for something else; it may
			       serve again */
};

#define ZYGOTE_EXPORTED __attribute__((visibility("default")))

/* Functions of the interpreter to be called around every fork. Each may be NULL. */
struct zygote_hooks {
	void (*before)(void);
	void (*after_in_parent)(void);
	void (*after_in_child)(void);
};

/*
 * Forks sessions until one of `zygote_outcome` is reached. `channel` stays open, but not in forked
 * sessions. Reports failed forks, and threads, over it (WIRE_FAILED). Returns ZYGOTE_WANTED on
 * input from `wanted`, which it does not read, after the forks that were requested before; -1:
 * none.
 */
enum zygote_outcome zygote_serve(int channel, int wanted, const struct zygote_hooks *hooks);

/*
 * Returns 1 when the process may serve, else 0 and reports why over `channel`. It may not with
 * threads, which forks would lack, or with shared writable memory, by which one session could write
 * to another.
 */
ZYGOTE_EXPORTED int zygote_may_serve(int channel);
/* Serves with Python's fork hooks; returns zygote_outcome. The caller must hold the GIL. */
ZYGOTE_EXPORTED int zygote_serve_python(int channel, int wanted);
/* Returns "NAME=value" number `index` of the environment; NULL after the last. */
ZYGOTE_EXPORTED const char *zygote_variable(size_t index);

#endif
