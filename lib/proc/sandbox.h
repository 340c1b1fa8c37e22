/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - one session's sandbox, as the server holds it.
 *
 * A sandbox is opened by a request to the launcher and lives until it is closed, or until its init
 * or the launcher dies. Requests go to the sandbox's init over a channel of its own; replies come
 * as callbacks from the loop. No function here blocks.
 */
#ifndef PROC_SANDBOX_H
#define PROC_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/policy.h"

struct cgroups;
struct launcher;
struct sandbox;

/* The control group of a sandbox and its limits (proc/cgroups.h). */
struct sandbox_group {
	struct cgroups *groups; /* must outlive the launcher */
	uint64_t memory_max;
	uint64_t tasks_max; /* processes and threads, those of ptycell included */
};

/* Descriptors of the folders that a policy names. */
struct sandbox_folders {
	int data;
	int spool;    /* used only when policy.spool_path is not "" */
	int packages; /* used only when policy.packages_path is not "" */
	int shares[POLICY_SHARES_MAX];
	const int *zygote_sandbox; /* from sandbox_zygote_namespaces; used only when policy.nested
				      is set */
};

/*
 * Requests a sandbox with this policy. The policy is copied; `folders` and `group` are borrowed for
 * the call. `group` may be NULL: the sandbox then stays in the server's control group. The
 * descriptors decide which folders are meant: a path of the policy that has come to lead elsewhere
 * is an error. Always returns a sandbox: errors are reported when an interpreter is started in it.
 */
struct sandbox *sandbox_open(struct launcher *launcher, const struct policy *policy,
			     const struct sandbox_folders *folders,
			     const struct sandbox_group *group);
/*
 * Sets the receiver of the listening socket of a policy with `proxy`: 127.0.0.1:POLICY_PROXY_PORT
 * of the sandbox. Calls `fn` once, from the loop, before any interpreter of the sandbox has
 * started; not after sandbox_close. `fn` takes ownership of the descriptor. Must be called before
 * the loop runs again.
 */
void sandbox_watch_listener(struct sandbox *sandbox, void (*fn)(void *data, int listener_own),
			    void *data);
/*
 * Kills every process of the sandbox and frees it. Its interpreters must have been freed before.
 * Calls `closed` from the loop once no process is left that could write in the session's folders.
 * A control group whose processes do not end within 5 s is abandoned, with a line in the log.
 * `closed` may be NULL. It is not called after launcher_free, which may come first. A NULL sandbox
 * is allowed.
 */
void sandbox_close(struct sandbox *sandbox, void (*closed)(void *data), void *data);

/*
 * Returns the descriptors of sandbox/namespaces/zygote_namespaces.h, for a policy with
 * `zygote_sandbox`. Returns NULL until the sandbox has been built; an interpreter that has started
 * is proof of that. Borrowed until sandbox_close.
 */
const int *sandbox_zygote_namespaces(const struct sandbox *sandbox);

/*
 * Returns whether nothing can be started in the sandbox any more: it could not be built, or its
 * init or the launcher has died.
 */
bool sandbox_is_dead(const struct sandbox *sandbox);

/*
 * Returns how many processes the kernel has killed because the control group was at its memory
 * limit, which *ret_limit is set to. Returns 0, and leaves *ret_limit alone, without a group.
 */
uint64_t sandbox_oom_kills(const struct sandbox *sandbox, uint64_t *ret_limit);

enum { SANDBOX_GROWTHS_MAX = 8 };

/* Resources used by the processes of a sandbox: its interpreters and all that they started. */
struct sandbox_usage {
	uint64_t memory_bytes;
	uint64_t cpu_ms;         /* since the sandbox was opened */
	uint64_t unlinked_bytes; /* of open files that no folder names any more */
	unsigned int processes;
	unsigned int in_flight;  /* descriptors on their way through sockets */
	unsigned int tasks;      /* threads of all processes, and zombies */
	unsigned int threads;    /* of `processes`: at least one of each */
	bool exact;              /* as the request asked */
	bool user_full;          /* the user has as many processes as the kernel allows it, or
				    nearly; seen in tier landlock */
	uint64_t programs_bytes; /* part of memory_bytes that is not the interpreters' */
	uint64_t shared_bytes;   /* part of memory_bytes that files of /dev/shm take */
	uint64_t written_bytes;  /* to disks, since the sandbox was opened; 0 when exact */
	/* The growth of each interpreter since the last but one quick measure; only when exact. */
	struct sandbox_growth {
		int interpreter; /* its interpreter_number; 0 for an unused row */
		uint64_t bytes;
	} growths[SANDBOX_GROWTHS_MAX];
};

/* The processes that sandbox_kill_for_memory or sandbox_kill_for_disk has killed. */
struct sandbox_killed {
	bool for_disk;
	unsigned int interpreters;
	unsigned int programs;  /* started by interpreters */
	uint64_t memory_bytes;  /* of the largest of those programs; for_disk: that wrote most */
	uint64_t written_bytes; /* by that program, in its life */
	char name[16];          /* of that program; untrusted, as is the next */
	char command[128];      /* its arguments with blanks in between, cut; may be empty */
};

/* Callbacks from the loop, each in reply to one request; not after sandbox_close. */
struct sandbox_watcher {
	void (*measured)(void *data, const struct sandbox_usage *usage);
	void (*killed)(void *data, const struct sandbox_killed *killed);
};

/* Sets the receiver of replies. `watcher` and `data` are borrowed until sandbox_close. */
void sandbox_watch(struct sandbox *sandbox, const struct sandbox_watcher *watcher, void *data);
/*
 * Requests one measure of the sandbox. An exact one divides shared pages among the processes that
 * share them; it takes longer.
 */
void sandbox_measure(struct sandbox *sandbox, bool exact);
/*
 * Limits the size of every file that running processes, and those that they start, write to
 * `bytes`. A `bytes` above policy.file_max counts as policy.file_max.
 */
void sandbox_set_file_max(struct sandbox *sandbox, uint64_t bytes);
/*
 * Makes the policy's writable shares read-only, for every interpreter that is started from now on:
 * no interpreter may have been started yet. A sandbox that cannot do that ends.
 */
void sandbox_seal(struct sandbox *sandbox);
/*
 * Makes the shares writable again. `done` is called once from the loop, when they are or the
 * sandbox has died; not after sandbox_close. Returns false if the sandbox is dead already.
 */
bool sandbox_lift_seal(struct sandbox *sandbox, void (*done)(void *data), void *data);
/*
 * Opens the session's own /tmp and /dev/shm, which end with the sandbox. `done` is called once from
 * the loop; not after sandbox_close. It borrows the SANDBOX_SCRATCH descriptors, or gets NULL if
 * there are no such folders or the sandbox has died. Returns false if init cannot be asked.
 * One request at a time.
 */
enum { SANDBOX_SCRATCH = 2 };
bool sandbox_open_scratch(struct sandbox *sandbox, void (*done)(void *data, const int *fds),
			  void *data);
/* How much memory processes may have together: members as in struct usage_kill_request. */
struct sandbox_need {
	uint64_t memory_max;
	uint64_t still_max;
	bool programs_only;
};

/*
 * Kills processes until the rest have at most `need->memory_max` bytes together. Interpreters are
 * killed last, and among them the `count` that run code (`busy`, by interpreter_number) before the
 * others. victims.h says in which order.
 */
void sandbox_kill_for_memory(struct sandbox *sandbox, const struct sandbox_need *need,
			     const int *busy, size_t count);
/* Kills the processes that write to the session's folder; `busy` as in sandbox_kill_for_memory. */
void sandbox_kill_for_disk(struct sandbox *sandbox, const int *busy, size_t count);

#endif
