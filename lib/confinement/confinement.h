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

/* Of a settled one. POLICY_UNCONFINED also when nothing may run. */
enum policy_tier confinement_tier(const struct confinement *confinement);
/* The weakest that the person accepts. */
enum policy_tier confinement_floor(const struct confinement *confinement);
/* NULL when nothing was probed: unconfined on request, or the probe failed. */
const struct sandbox_report *confinement_report(const struct confinement *confinement);
/* When the canaries were stopped; 0 when none ran. */
time_t confinement_verified_at(const struct confinement *confinement);
/* Sessions have a root of their own: folders are at the paths of sandbox/policy.h. */
bool confinement_rooted(const struct confinement *confinement);
/* Sessions have a proxy to the hosts that the person named. */
bool confinement_reaches_hosts(const struct confinement *confinement);
/* While a sandbox lives, names in the person's folders are held (sandbox/rootfs/protect.h). */
bool confinement_holds_names(const struct confinement *confinement);
/* May programs make Unix sockets? */
bool confinement_unix_sockets(const struct confinement *confinement);
/*
 * The control groups of sessions, NULL without; then confinement_group_problem says why, a sentence
 * without end. "" when nobody has looked.
 */
const struct cgroups *confinement_groups(const struct confinement *confinement);
const char *confinement_group_problem(const struct confinement *confinement);
/* NULL when they could not be opened: that is the refusal. */
const struct shares *confinement_shares(const struct confinement *confinement);
/* For a session's first answer: one sentence on what is weaker than it could be; NULL else. */
const char *confinement_notice(const struct confinement *confinement);

/* Makes a new session's folder what its sandbox needs: whose it is, and by which path it goes. */
int confinement_adopt(const struct confinement *confinement, struct workspace *workspace,
		      struct err *err) MUST_CHECK;
/*
 * A sandbox for a session of these limits. Never fails at once: as sandbox_open. `nursery`: that in
 * which it lies, as sandbox_nursery has it; NULL: none.
 */
struct sandbox *confinement_open(const struct confinement *confinement,
				 const struct workspace *workspace,
				 const struct session_limits *limits, const int *nursery);
/* A nursery, in tier namespaces, with nothing of any session or share in it; `library` is a file.
 */
struct sandbox *confinement_open_nursery(const struct confinement *confinement,
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
