/* SPDX-License-Identifier: MIT */
/*
 * confinement.h - how the sessions of this server are confined: chosen once, by trying.
 *
 * The launcher builds throw-away sandboxes and tries to break them; the strongest tier that held
 * is taken when it is not below the person's floor. Nothing weaker is ever taken silently, nothing
 * changes for a session that runs, and a canary that got through means that no code runs at all.
 * What the person shares is looked at in the same moment and holds from then on.
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

/* All borrowed until free. Does nothing yet. */
struct confinement *confinement_new(struct loop *loop, struct launcher *launcher,
				    const struct settings *settings);
/* After launcher_free, which ends a probe under way. NULL is allowed. */
void confinement_free(struct confinement *confinement);

/* It is known how code is confined, or why none may run. */
bool confinement_settled(const struct confinement *confinement);
/*
 * Finds out; `settled` comes once, from the loop, and not after confinement_free. A failure that
 * may pass (no process, a share that is not there) is found out anew by the next call. One asks at
 * a time.
 */
void confinement_settle(struct confinement *confinement, void (*settled)(void *data), void *data);
/*
 * While it is being found out: from here on sandboxes can be opened as if the strongest tier held.
 * No session's code may run in one before confinement_foreseen says that it does. False: how
 * sessions will be confined cannot be foreseen.
 */
bool confinement_assume(struct confinement *confinement);
/* Of a settled one: sandboxes opened before are what sessions get. */
bool confinement_foreseen(const struct confinement *confinement);

/* What was found out, a line in the log: at start-up, and for nobody else. */
void confinement_log(const struct confinement *confinement);

/* NULL when code may run; else why not and what to do: sentences, some with commands. */
const char *confinement_refusal(const struct confinement *confinement);
/* The same in one line, as an error. */
int confinement_check(const struct confinement *confinement, struct err *err) MUST_CHECK;

/* What is known of the confinement of sessions. Pointers are borrowed until confinement_free. */
struct confinement_facts {
	enum policy_tier tier;  /* POLICY_UNCONFINED also when no code may run */
	enum policy_tier floor; /* the weakest tier that the user accepts */
	bool rooted;            /* sessions have a root of their own, as in sandbox/policy.h */
	bool reaches_hosts;     /* sessions have a proxy to the hosts that the user names */
	bool holds_names;       /* sandboxes protect names in shares (sandbox/rootfs/protect.h) */
	bool unix_sockets;      /* programs may make Unix sockets */
	time_t verified_at;     /* when the escape tests were passed; 0: none ran */
	const struct sandbox_report *report; /* NULL: unconfined on request, or the probe failed */
	const struct cgroups *groups;        /* the control groups of sessions; NULL: none */
	const char *group_problem; /* why `groups` is NULL, a sentence without end; "": not tried */
	const struct shares *shares; /* NULL: not opened yet, or the refusal says why */
	const char *notice; /* what is weaker than it could be, for a first answer; or NULL */
};

/* Returns the facts as they are now; they hold for good once confinement_settled is true. */
struct confinement_facts confinement_facts(const struct confinement *confinement);

/* Makes a new session's folder what its sandbox needs: whose it is, and by which path it goes. */
int confinement_adopt(const struct confinement *confinement, struct workspace *workspace,
		      struct err *err) MUST_CHECK;
/*
 * A sandbox for a session of these limits. Never fails at once: as sandbox_open. `nursery`: that in
 * which it lies, as sandbox_nursery has it; NULL: none.
 */
struct sandbox *confinement_open(const struct confinement *confinement,
				 const struct workspace *workspace,
				 const struct session_limits *limits, const int *zygote_fds);
/* A nursery, in tier namespaces, with nothing of any session or share in it; `library` is a file.
 */
struct sandbox *confinement_open_zygote(const struct confinement *confinement,
					const struct workspace *workspace, const char *library);
/* What an installer of packages needs beside its own, empty folder. */
struct confinement_installer {
	bool network;               /* a listener for a proxy, where sessions have networks */
	const char *const *folders; /* of the host, to read; at most POLICY_SHARES_MAX */
	const int *folder_fds;      /* the same */
	size_t folder_count;
};
/* A sandbox for one, with nothing of any session or share in it. Never fails at once. */
struct sandbox *confinement_open_installer(const struct confinement *confinement,
					   const struct workspace *workspace,
					   const struct confinement_installer *installer);
/*
 * As language_locate, with the path by which the interpreter is started inside. ERR_DENIED for one
 * that would bring the person's files with it.
 */
int confinement_locate(const struct confinement *confinement, const struct language *language,
		       struct interpreter_path *ret_path, struct err *err) MUST_CHECK;

#endif
