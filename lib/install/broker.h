/* SPDX-License-Identifier: MIT */
/*
 * broker.h - brings packages into sessions that have no network.
 *
 * A job resolves what was asked for together with what the session got before, applies the policy
 * to all of it, downloads and unpacks it in sandboxes of its own (install/installer.h), stores it
 * in the cache and puts it into the session's packages folder, which its interpreters see from
 * their start. A session's jobs for one language run one after the other. Where any of this fails
 * nothing of the session has changed.
 */
#ifndef INSTALL_BROKER_H
#define INSTALL_BROKER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "runtime/language.h"
#include "session/session.h"

struct broker;
struct install;
struct policyfile;

enum {
	BROKER_PACKAGES_MAX = 200, /* of one session and language */
	BROKER_PACKAGE_CHARS = 500,
	BROKER_JOBS_MAX = 16,   /* of one session, the running one too */
	BROKER_FRESH_S = 86400, /* how long the newest version is taken for the newest */
};

/* `host` (with its home) and `policy` are borrowed. NULL: the cache cannot be used. */
struct broker *broker_new(const struct session_host *host, const struct policyfile *policy,
			  struct err *err) MUST_CHECK;
/* Ends every job; each `done` has come. The launcher still runs. NULL is allowed. */
void broker_end(struct broker *broker);
/* After broker_end and launcher_free. NULL is allowed. */
void broker_free(struct broker *broker);

/*
 * What became of it, borrowed for the call: {"packages": [{"name", "version", "modules"}],
 * "present": [{"name", "version"}], "cached": BOOL}: what the session has now, and what its
 * interpreter had anyway. Or NULL and why, in sentences.
 */
typedef void install_done_fn(void *data, const json_t *result, const char *problem);

/* An installation is over. All is borrowed for the call. */
struct broker_event {
	const char *folder; /* workspace_name of the session */
	const struct language *language;
	const json_t *asked;
	const char *from;     /* the indexes, as in broker_list */
	const json_t *result; /* as install_done_fn has it, with "files": [{"file", "sha256"}] */
	const char *problem;  /* instead of it */
};

typedef void broker_over_fn(void *data, const struct broker_event *event);
/* `over` is told of each installation, whether or not somebody waits for it. */
void broker_on_over(struct broker *broker, broker_over_fn *over, void *data);

/* Borrowed for the call. */
struct install_wish {
	const struct language *language;
	const json_t *packages; /* an array of texts as people write them */
};

/* Whether these may be asked for: ERR_INVALID for none, ERR_LIMIT for too many or too long. */
int broker_check_packages(const json_t *packages, struct err *err) MUST_CHECK;
/* `done` comes once, from the loop. NULL: the request itself is wrong. */
struct install *broker_install(struct broker *broker, const struct session *session,
			       const struct install_wish *wish, install_done_fn *done, void *data,
			       struct err *err) MUST_CHECK;
/*
 * Whether the installer of this language works here and its indexes answer: `done` gets
 * {"tool": "pip 24.0", "from": as in broker_list}, or why not and what to do.
 */
struct install *broker_check(struct broker *broker, const struct language *language,
			     install_done_fn *done, void *data);
/* Nobody waits for it any more: no `done`. The packages still come. NULL is allowed. */
void broker_forget(struct install *install);
/* All of these were installed for this session before, written the same. */
bool broker_has(const struct broker *broker, const struct session *session,
		const struct language *language, const json_t *packages);
/* What was installed for this session: [{"name", "version", "language", "file", "from"}], where
 * `from` are the indexes' hosts and folders. New reference.
 */
json_t *broker_list(const struct broker *broker, const struct session *session);
/* The session of this folder (workspace_name) ends, and what is under way for it. */
void broker_end_folder(struct broker *broker, const char *folder);

#endif
