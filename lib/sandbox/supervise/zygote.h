/* SPDX-License-Identifier: MIT */
/*
 * parent.h - an interpreter that runs nobody's code and is copied for sessions.
 *
 * It runs in a nursery (sandbox/namespaces/zygote_namespaces.h): the host's programs read-only, no
 * network, no capability; but without landlock and seccomp, which its copies could not put off. It
 * runs no code of any session, and cannot be dumped from when it first serves. For each WIRE_FORK
 * on its channel a copy is made, which joins the namespaces that came with it and becomes a
 * supervisor, which forks the interpreter and confines it as it would any other: by the same
 * limits, second user namespace, landlock and seccomp. No descriptor is common to a copy and the
 * parent or to siblings.
 *
 *   parent --vfork--> joins --vfork--> in the session --fork--> supervisor --fork--> interpreter
 *
 * The two in the middle share the parent's memory while it waits, so that its pages are copied
 * only once, and end at once: the supervisor is then a child of the session's init, like any other.
 *
 * This is the interface of ptycell-parent.so, which a driver loads into its own process.
 */
#ifndef SANDBOX_SUPERVISE_ZYGOTE_H
#define SANDBOX_SUPERVISE_ZYGOTE_H

#include <stddef.h>

enum zygote_outcome {
	ZYGOTE_OVER = 0, /* the channel ended */
	ZYGOTE_INTERPRETER =
		1,          /* this is a session's interpreter, with an environment of its own */
	ZYGOTE_THREADS = 2, /* more than one thread: a copy would lack all others */
	ZYGOTE_WANTED = 3,  /* the parent itself is to do something; it may serve again */
};

#define ZYGOTE_EXPORTED __attribute__((visibility("default")))

/* Of the interpreter: what is to be called around every fork. NULL: nothing. */
struct zygote_hooks {
	void (*before)(void);
	void (*after_in_parent)(void);
	void (*after_in_child)(void);
};

/*
 * Makes copies until one of `zygote_outcome` is reached. `channel` stays open but in copies. A copy
 * that cannot be made, and threads, are told over it (WIRE_FAILED). Bytes on `wanted`, which is not
 * read, make it return, after the copies that were asked for; -1: none.
 */
enum zygote_outcome zygote_serve(int channel, int wanted, const struct zygote_hooks *hooks);

/*
 * Before it serves: 0 when it must not, with threads, which copies would lack, or with memory that
 * it would share with them, which they could write to. Then why is told over `channel`.
 */
ZYGOTE_EXPORTED int zygote_may_serve(int channel);
/* For Python, in which the caller holds the lock of the interpreter: zygote_outcome. */
ZYGOTE_EXPORTED int zygote_serve_python(int channel, int wanted);
/* "NAME=value" number `index` of the environment; NULL after the last. */
ZYGOTE_EXPORTED const char *zygote_variable(size_t index);

#endif
