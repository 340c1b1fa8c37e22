/* SPDX-License-Identifier: MIT */
/*
 * confinement.h - how the sessions of this server are confined: chosen once, by escape tests.
 *
 * The launcher builds throw-away sandboxes and tries to escape from them. The server takes the
 * strongest tier that held, if it is not below the user's floor. It never takes a weaker one
 * silently, and changes nothing for a running session. If an escape test got through, no code runs
 * at all. The user's shares are opened at the same time and hold from then on.
 */
#ifndef CONFINEMENT_CONFINEMENT_H
#define CONFINEMENT_CONFINEMENT_H

#include <stdbool.h>
#include <time.h>

#include "base/err.h"
#include "config/settings.h"
#include "confinement/shares.h"
#include "event/loop.h"
#include "runtime/language.h"
#include "sandbox/report.h"

struct cgroups;
struct confinement;
struct launcher;
struct sandbox;
struct workspace;

/* Makes an unsettled confinement. Everything is borrowed until free. */
struct confinement *confinement_new(struct loop *loop, struct launcher *launcher,
				    const struct settings *settings);
/* Frees it. Must follow launcher_free, which ends a probe under way. May be NULL. */
void confinement_free(struct confinement *confinement);

/* Returns whether it is known how code is confined, or why no code may run. */
bool confinement_settled(const struct confinement *confinement);
/*
 * Requests the probe. `settled` comes once, from the loop, and not after confinement_free. After a
 * failure that may pass (no process, a missing share) the next call probes again. One caller at a
 * time.
 */
void confinement_settle(struct confinement *confinement, void (*settled)(void *data), void *data);
/*
 * Allows sandboxes to be opened during the probe as if the strongest tier held. No session code may
 * run in them before confinement_foreseen confirms the tier. Returns false if it cannot be foreseen
 * how sessions will be confined.
 */
bool confinement_assume(struct confinement *confinement);
/* Returns whether sandboxes that were opened during the probe are confined as sessions must be. */
bool confinement_foreseen(const struct confinement *confinement);

/* Logs the result in one line, at start-up. */
void confinement_log(const struct confinement *confinement);

/* Returns -1 and sets *err to the first line of the refusal when no code may run. */
int confinement_check(const struct confinement *confinement, struct err *err) MUST_CHECK;

/* Facts about the confinement of sessions. Pointers are borrowed until confinement_free. */
struct confinement_facts {
	enum policy_tier tier;  /* POLICY_UNCONFINED also when no code may run */
	enum policy_tier floor; /* the weakest tier that the user accepts */
	bool rooted;            /* sessions have a root of their own, as in sandbox/policy.h */
	bool reaches_hosts;     /* sessions have a proxy to the hosts that the user names */
	/* In tier namespaces, with a writable share: names in it are protected. */
	bool protects_shares;
	bool unix_sockets; /* programs may make Unix sockets */
	/* NULL when code may run; else why not and what to do, in sentences, some with commands */
	const char *refusal;
	time_t verified_at;                  /* when the escape tests were passed; 0: none ran */
	const struct sandbox_report *report; /* NULL: unconfined on request, or the probe failed */
	const struct cgroups *groups;        /* the control groups of sessions; NULL: none */
	const char *group_problem; /* why `groups` is NULL, a sentence without end; "": not tried */
	const struct shares *shares; /* NULL: not opened yet, or the refusal says why */
	const char *notice; /* what is weaker than it could be, for a first answer; or NULL */
};

/* Returns the facts as they are now. They are final once confinement_settled returns true. */
struct confinement_facts confinement_facts(const struct confinement *confinement);

/*
 * Gives a new session's folder the owner that its sandbox needs, and the path inside the sandbox.
 * Returns -1 and sets *err.
 */
int confinement_adopt(const struct confinement *confinement, struct workspace *workspace,
		      struct err *err) MUST_CHECK;
/*
 * Does the same at once, without a lookup of accounts: confinement_check_owner must follow before
 * session code runs.
 */
int confinement_adopt_early(const struct confinement *confinement, struct workspace *workspace,
			    struct err *err) MUST_CHECK;
/* Returns -1 and sets *err if the folder's new owner has an account on this machine. */
int confinement_check_owner(const struct workspace *workspace, struct err *err) MUST_CHECK;
/*
 * Opens a sandbox for a session with these limits. Always returns a sandbox, as sandbox_open does:
 * errors are reported when an interpreter is started in it. `zygote_fds` are those of the zygote
 * sandbox that contains it, as sandbox_zygote_namespaces returns them; or NULL.
 */
struct sandbox *confinement_open(const struct confinement *confinement,
				 const struct workspace *workspace,
				 const struct session_limits *limits, const int *zygote_fds);
/*
 * Opens a zygote sandbox, which needs tier namespaces. It contains nothing of any session and no
 * share. `library` is a file.
 */
struct sandbox *confinement_open_zygote(const struct confinement *confinement,
					const struct workspace *workspace, const char *library);
/* The needs of an installer of packages beside its own, empty folder. */
struct confinement_installer {
	bool network;               /* a proxy's listener, if sessions have networks of their own */
	const char *const *folders; /* readable folders of the host; at most POLICY_SHARES_MAX */
	const int *folder_fds;      /* of `folders` */
	size_t folder_count;
};
/*
 * Opens a sandbox for an installer, with nothing of any session and no share. Always returns one,
 * as confinement_open does.
 */
struct sandbox *confinement_open_installer(const struct confinement *confinement,
					   const struct workspace *workspace,
					   const struct confinement_installer *installer);
/*
 * Locates an interpreter, like language_locate; ret_path has the path by which it is started
 * inside. Returns -1 and sets ERR_DENIED for an interpreter that would expose the user's files.
 */
int confinement_locate(const struct confinement *confinement, const struct language *language,
		       struct interpreter_path *ret_path, struct err *err) MUST_CHECK;

#endif
