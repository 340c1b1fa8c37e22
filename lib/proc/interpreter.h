/* SPDX-License-Identifier: MIT */
/*
 * interpreter.h - an interpreter in a sandbox, on a pty of its own, as the server holds it.
 *
 * Each interpreter is a child of a supervisor process, which reports its end and signals its tree.
 * The server never holds a pid of a session's process: it sends requests over the channel of the
 * supervisor, and the supervisor picks the process. Starting is a request too; its result is a
 * callback from the loop. No function here blocks.
 */
#ifndef PROC_INTERPRETER_H
#define PROC_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/wire/plan.h"

struct sandbox;
struct interpreter;

struct interpreter_spec {
	char *const *argv;      /* argv[0] must be an absolute path */
	char *const *envp;      /* the whole environment: nothing is inherited */
	const char *cwd;        /* an absolute path; NULL is the sandbox's workspace */
	unsigned short rows;    /* of the terminal; 0 is 40 */
	unsigned short columns; /* 0 is 120 */
	/*
	 * Descriptors beside the terminal on 0-2, which they may replace. NULL is one PLAN_SOCKET
	 * "control", number 3.
	 */
	const struct plan_descriptor *descriptors;
	size_t descriptor_count;
	/*
	 * A started zygote with a descriptor "fork" (PLAN_PACKETS), from which the interpreter may
	 * be forked. May be NULL. The interpreter is exec'd when there is no zygote, when the
	 * zygote does not reply, and in a sandbox that is not nested.
	 */
	const struct interpreter *zygote;
	/*
	 * A failed allocation is an error of the code. Its soft limit of memory then follows what
	 * the session's interpreters leave.
	 */
	bool fails_softly;
};

/* Callbacks from the loop. Each may free the interpreter. */
struct interpreter_handlers {
	/* The process has been exec'd; its descriptors are open and non-blocking. */
	void (*started)(struct interpreter *interpreter);
	/* The interpreter could not be started; only interpreter_free may follow. */
	void (*failed)(struct interpreter *interpreter, const struct err *err);
	/* The interpreter has ended (status as in WIRE_EXITED); its children may live on. */
	void (*exited)(struct interpreter *interpreter, int wait_status);
	/* No process of its tree is left. */
	void (*gone)(struct interpreter *interpreter);
};

/*
 * Requests an interpreter. `spec` is borrowed for the call, `handlers` and `data` until
 * interpreter_free. Always returns an interpreter: errors come as `failed`.
 */
struct interpreter *interpreter_start(struct sandbox *sandbox, const struct interpreter_spec *spec,
				      const struct interpreter_handlers *handlers, void *data);
/* Returns the `data` of interpreter_start. */
void *interpreter_data(const struct interpreter *interpreter);
/* Kills the tree if it still lives, and frees. No handler runs afterwards. May be NULL. */
void interpreter_free(struct interpreter *interpreter);
/* Returns its number in its sandbox, from 1; 0 or less when the request could not be sent. */
int interpreter_number(const struct interpreter *interpreter);
/* Returns whether a started interpreter was forked from the zygote of its spec. */
bool interpreter_is_forked(const struct interpreter *interpreter);
/*
 * Returns whether the supervisor died first. The supervisor reports how others end, so its own
 * death is reported as an exit by SIGKILL.
 */
bool interpreter_lost_supervisor(const struct interpreter *interpreter);
/* Returns the pty master, owned by the interpreter; -1 before `started`. */
int interpreter_pty(const struct interpreter *interpreter);
/* Returns interpreter_descriptor for "control". */
int interpreter_control(const struct interpreter *interpreter);
/*
 * Returns the server's end of the descriptor with this name, owned by the interpreter; -1 when
 * there is none.
 */
int interpreter_descriptor(const struct interpreter *interpreter, const char *name);
/*
 * Returns the pty slave, owned by the interpreter, for FIONREAD and termios. It is opened from the
 * master by TIOCGPTPEER.
 */
int interpreter_slave(const struct interpreter *interpreter);

/* Returns whether input was written to the terminal that no process has read yet. */
bool interpreter_unread_input(const struct interpreter *interpreter);
/* Restarts the terminal's output after a program has suspended it (tcflow). */
void interpreter_restart_output(struct interpreter *interpreter);
/*
 * Applies the base settings of sandbox/process/terminal.h, as each cell's start must. Returns -1
 * and sets *err.
 */
int interpreter_reset_terminal(struct interpreter *interpreter, struct err *err) MUST_CHECK;
/*
 * Sends `signo` to the terminal's foreground process group, by TIOCSIG: unlike a typed control
 * character it keeps pending output.
 */
void interpreter_signal_foreground(struct interpreter *interpreter, int signo);
/* Returns the number of that group, only to be compared with another; 0 when it is not known. */
pid_t interpreter_foreground(const struct interpreter *interpreter);
/* Sends `signo` to the interpreter's process alone. */
void interpreter_signal(struct interpreter *interpreter, int signo);
/* Sends `signo` to every process of the tree; SIGKILL is repeated until none is left. */
void interpreter_signal_tree(struct interpreter *interpreter, int signo);
/*
 * Counts the live processes below the interpreter, itself not included. Calls `done` once, from
 * the loop, with 0 when the tree is gone; not after interpreter_free.
 */
void interpreter_count_children(struct interpreter *interpreter,
				void (*done)(struct interpreter *interpreter, int count));

enum input_wait {
	INPUT_NOT_AWAITED,
	INPUT_AWAITED,
	INPUT_AWAITED_BACKGROUND, /* a background process was stopped because it wants input */
	INPUT_MAYBE_AWAITED,      /* a foreground process sleeps and may not be inspected */
};

/* One observation of who reads the terminal. */
struct input_state {
	enum input_wait wait;
	bool secret;   /* ECHO is off while lines are read: a password */
	bool raw;      /* no line is read but single keys, as editors do */
	bool brief;    /* the wait ends by itself in less than a second */
	bool watches;  /* the thread polls many things; the terminal may be a forgotten one */
	bool child;    /* the reader is a program that the interpreter started */
	int thread;    /* the thread that waits */
	uint64_t ran;  /* ns that it ever ran; if equal in two observations, it slept in between */
	char name[16]; /* of the reader's program; untrusted */
};

/*
 * Observes whether a process waits for input on the terminal. A caller that ends a wait early must
 * ask twice, without output in between. Calls `done` once, from the loop; not after
 * interpreter_free. `look` is borrowed for the call.
 */
void interpreter_check_input(struct interpreter *interpreter,
			     void (*done)(struct interpreter *interpreter,
					  const struct input_state *look));

#endif
