/* SPDX-License-Identifier: MIT */
/*
 * sandbox_client.h - the server's side of ptycell-launcher: sandboxes and the interpreters in them.
 *
 * One launcher a server, exec'd for the first sandbox or ahead of it. A sandbox belongs to a
 * session; an interpreter is a process on its own pty, under a subreaper of its own. All
 * descriptors come from the launcher by SCM_RIGHTS with count and type checked. Nothing here
 * blocks: starting is a request, the answer a callback from the loop. A launcher that died takes
 * its sandboxes with it, which their interpreters report; the next sandbox gets a new one.
 *
 * The server never holds a pid of a session's process: whether it lives is told over the
 * interpreter's minder channel, and whom to kill is said there.
 */
#ifndef PROC_SANDBOX_CLIENT_H
#define PROC_SANDBOX_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "event/loop.h"
#include "sandbox/report.h"
#include "sandbox/wire/plan.h"

struct cgroups;
struct launcher;
struct sandbox;
struct interpreter;

/* `path` of ptycell-launcher is borrowed for the call. Execs nothing yet. */
struct launcher *launcher_new(struct loop *loop, const char *path);
/*
 * Execs it when none runs, so that the first sandbox need not wait for it. What fails here fails
 * there again.
 */
int launcher_start(struct launcher *launcher, struct err *err) MUST_CHECK;
/* Kills every sandbox with it. NULL is allowed. */
void launcher_free(struct launcher *launcher);

/*
 * Exactly one of `report` and `err` is not NULL; both for this call only. The launcher may be
 * freed.
 */
typedef void launcher_probe_fn(void *data, const struct sandbox_report *report,
			       const struct err *err);
/*
 * Finds out what this machine gives a sandbox, in throw-away processes, starting a launcher when
 * none runs. Calls `done` once, from the loop, after 10 s at the latest; not after launcher_free.
 */
void launcher_probe(struct launcher *launcher, launcher_probe_fn *done, void *data);

/* What the kernel holds all of a sandbox by, in a control group of its own (cgroups.h). */
struct sandbox_group {
	struct cgroups *groups; /* outlives the launcher */
	uint64_t memory_max;
	uint64_t tasks_max; /* processes and threads, ours included */
};

/* What a policy names, as the server holds it: by descriptor. */
struct sandbox_folders {
	int data;
	int spool;    /* looked at only when policy.spool_path is not "" */
	int packages; /* likewise */
	int shares[POLICY_SHARES_MAX];
	const int *nursery; /* what sandbox_nursery said; looked at only for a nested policy */
};

/*
 * Asks for a sandbox with this policy (copied) and these folders (borrowed for the call), as is
 * `group`; NULL: it stays in the server's. The descriptors say which folders are meant: a path of
 * the policy that leads elsewhere by then fails. Never fails at once: an interpreter's start
 * reports it.
 */
struct sandbox *sandbox_open(struct launcher *launcher, const struct policy *policy,
			     const struct sandbox_folders *folders,
			     const struct sandbox_group *group);
/*
 * For a policy with `proxy`: calls `fn` once, from the loop, before any interpreter of it has
 * started, with the socket that listens on 127.0.0.1:POLICY_PROXY_PORT inside; the descriptor is
 * then the callee's. To be set before the loop turns. Not after sandbox_close.
 */
void sandbox_watch_listener(struct sandbox *sandbox, void (*fn)(void *data, int listener_own),
			    void *data);
/*
 * Kills everything in it; interpreters must have been freed. `closed`, where there is one, is
 * called from the loop once no process of it is left: then nobody writes in its folder any more. A
 * group whose processes do not end is given up, with a line in the log, after 5 s.
 * Not after launcher_free, before which it may be too early. NULL is allowed.
 */
void sandbox_close(struct sandbox *sandbox, void (*closed)(void *data), void *data);

/*
 * For a policy with `nursery`: the descriptors of sandbox/namespaces/zygote_namespaces.h, the
 * sandbox's own, once it is made; NULL before. Certainly when an interpreter of it has started.
 */
const int *sandbox_nursery(const struct sandbox *sandbox);

/* Nothing can be started in it any more: it could not be made, or its init, or the launcher, ended.
 */
bool sandbox_is_dead(const struct sandbox *sandbox);

/*
 * How many of its processes the kernel has killed because memory was at the limit of its control
 * group, *ret_limit; 0 without one.
 */
uint64_t sandbox_oom_kills(const struct sandbox *sandbox, uint64_t *ret_limit);

enum { SANDBOX_GROWTHS_MAX = 8 };

/* What its processes use: of every interpreter and of what those started. */
struct sandbox_usage {
	uint64_t memory_bytes;
	uint64_t cpu_ms;         /* since it was opened */
	uint64_t unlinked_bytes; /* of files that are open and have no name any more */
	unsigned int processes;
	unsigned int in_flight;  /* descriptors on their way through sockets */
	unsigned int tasks;      /* threads of all processes, and zombies */
	bool exact;              /* as it was asked for */
	uint64_t programs_bytes; /* of memory_bytes, what is not interpreters' */
	uint64_t shared_bytes;   /* of memory_bytes, what files of /dev/shm take */
	/* Of an exact one: by how much interpreters have grown since the look before. */
	struct sandbox_growth {
		int interpreter; /* its interpreter_number; 0: it is none any more */
		uint64_t bytes;
	} growths[SANDBOX_GROWTHS_MAX];
};

/* The processes that were killed for their memory. */
struct sandbox_relief {
	unsigned int interpreters;
	unsigned int programs; /* that they had started */
	uint64_t memory_bytes; /* of the largest of those programs */
	char name[16];         /* and its name, foreign */
};

/* Both come from the loop, on request, and not after sandbox_close. */
struct sandbox_watcher {
	void (*measured)(void *data, const struct sandbox_usage *usage);
	void (*relieved)(void *data, const struct sandbox_relief *relief);
};

/* `watcher` and `data` are borrowed until sandbox_close. */
void sandbox_watch(struct sandbox *sandbox, const struct sandbox_watcher *watcher, void *data);
/* `exact` shares pages out among those who share them, which costs more. */
void sandbox_measure(struct sandbox *sandbox, bool exact);
/*
 * No file that its processes write becomes larger than `bytes`; what is greater than their policy's
 * file_max is that. For those that run now and what they start.
 */
void sandbox_set_file_max(struct sandbox *sandbox, uint64_t bytes);
/*
 * Kills processes until those that are left have `memory_max` together: interpreters last, and the
 * `count` that run code, by their interpreter_number, before others. In the order of usage_relieve,
 * where `still_max` stands, too.
 */
void sandbox_relieve(struct sandbox *sandbox, uint64_t memory_max, uint64_t still_max,
		     const int *busy, size_t count);

struct interpreter_spec {
	char *const *argv;      /* argv[0] is an absolute path */
	char *const *envp;      /* the whole environment: nothing is inherited */
	const char *cwd;        /* an absolute path; NULL is the sandbox's workspace */
	unsigned short rows;    /* of the terminal; 0 is 40 */
	unsigned short columns; /* 0 is 120 */
	/* Beside the terminal on 0-2, which they may replace. NULL is one PLAN_SOCKET "control", 3.
	 */
	const struct plan_descriptor *descriptors;
	size_t descriptor_count;
	/*
	 * A started one with a descriptor "fork" (PLAN_PACKETS), of which it may be forked; NULL:
	 * none. When that does not answer, and in a sandbox that is not nested, it is exec'd.
	 */
	const struct interpreter *parent;
};

struct interpreter_handlers {
	/* Both descriptors are open and non-blocking; the process has been exec'd. */
	void (*started)(struct interpreter *interpreter);
	/* It could not be started; only interpreter_free may follow. */
	void (*failed)(struct interpreter *interpreter, const struct err *err);
	/* The interpreter process ended, as WIRE_EXITED says; children of it may live on. */
	void (*exited)(struct interpreter *interpreter, int wait_status);
	/* No process of its tree is left. */
	void (*gone)(struct interpreter *interpreter);
};

/* `spec` is borrowed for the call, `handlers` and `data` until free. */
struct interpreter *interpreter_start(struct sandbox *sandbox, const struct interpreter_spec *spec,
				      const struct interpreter_handlers *handlers, void *data);
/* What was given to interpreter_start. */
void *interpreter_data(const struct interpreter *interpreter);
/* Kills the tree when it still lives; no handler runs after this. NULL is allowed. */
void interpreter_free(struct interpreter *interpreter);
/* Which one of its sandbox it is; 0: it could not be asked for. */
int interpreter_number(const struct interpreter *interpreter);
/* It was forked from the parent of its spec. Of a started one. */
bool interpreter_is_copy(const struct interpreter *interpreter);
/* Its minder died, which tells how others end: so did it, by SIGKILL. Of one that exited. */
bool interpreter_lost_minder(const struct interpreter *interpreter);
/* -1 before `started`. Owned by the interpreter. */
int interpreter_pty(const struct interpreter *interpreter);
/* That of the descriptor named "control". */
int interpreter_control(const struct interpreter *interpreter);
/* Our end of the descriptor with this name; -1 when there is none. */
int interpreter_descriptor(const struct interpreter *interpreter, const char *name);
/* The slave, for FIONREAD and termios: opened from the master by TIOCGPTPEER. */
int interpreter_slave(const struct interpreter *interpreter);

/* Whether input that was written to the terminal has not been read yet. */
bool interpreter_unread_input(const struct interpreter *interpreter);
/* Lets the terminal's writers go on when a program has stopped its output (tcflow). */
void interpreter_restart_output(struct interpreter *interpreter);
/* The base terminal settings of sandbox/process/terminal.h, set again at each cell's start. */
int interpreter_reset_terminal(struct interpreter *interpreter, struct err *err) MUST_CHECK;
/* `signo` to the terminal's foreground group, by TIOCSIG: pending output is kept. */
void interpreter_signal_foreground(struct interpreter *interpreter, int signo);
/* The number of that group, to be compared with another; 0 when it is not known. */
pid_t interpreter_foreground(const struct interpreter *interpreter);
/* `signo` to the interpreter's process alone. */
void interpreter_signal(struct interpreter *interpreter, int signo);
/* `signo` to every process of the tree; SIGKILL until none is left. */
void interpreter_signal_tree(struct interpreter *interpreter, int signo);
/*
 * Live processes under it, itself not counted. `done` runs once, from the loop, with 0 when the
 * tree is gone; not at all after interpreter_free.
 */
void interpreter_count_children(struct interpreter *interpreter,
				void (*done)(struct interpreter *interpreter, int count));

enum input_wait {
	INPUT_NOT_AWAITED,
	INPUT_AWAITED,
	INPUT_AWAITED_BACKGROUND, /* a background process was stopped because it wants input */
	INPUT_MAYBE_AWAITED,      /* a foreground process sleeps and may not be looked into */
};

struct input_look {
	enum input_wait wait;
	bool secret;   /* ECHO is off while lines are read: a password */
	bool raw;      /* lines are not read: an editor, or keys */
	bool brief;    /* it goes on by itself in less than a second */
	bool watches;  /* it waits for many things, and the terminal may be left among them */
	bool child;    /* it is a program that the interpreter started */
	int thread;    /* which one it is */
	uint64_t ran;  /* and how long it ever ran, ns: equal means that it slept all the time */
	char name[16]; /* of its program; foreign */
};

/*
 * Does somebody wait for input on the terminal? One look: an answer that ends a wait early should
 * be asked for twice, without output between. `done` as above; `look` is borrowed.
 */
void interpreter_check_input(struct interpreter *interpreter,
			     void (*done)(struct interpreter *interpreter,
					  const struct input_look *look));

#endif
