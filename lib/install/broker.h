/* SPDX-License-Identifier: MIT */
/*
 * broker.h - installs packages into sessions that have no network.
 *
 * A job resolves the requested packages together with those that the session has, and applies the
 * policy to all of them. It downloads and unpacks them in sandboxes of its own
 * (install/installer.h) and stores them in the cache. Then it puts them into the session's packages
 * folder, which interpreters see from their start. The jobs of a session for one language run one
 * after the other. A failed job leaves the session unchanged.
 */
#ifndef INSTALL_BROKER_H
#define INSTALL_BROKER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "runtime/language.h"
#include "session/session.h"

struct broker;
struct install;
struct policyfile;

enum {
	BROKER_PACKAGES_MAX = 200, /* of one request, with its options */
	BROKER_LOCKED_MAX =
		5000, /* lines of a lock file in one request: large projects have 2000 */
	BROKER_PACKAGE_CHARS = 500,
	BROKER_JOBS_MAX = 16, /* of one session, with the running one */
	BROKER_FRESH_S = 600, /* how long a cached set may be used for the same request: as long as
				 PyPI's own replies are valid */
};

/*
 * Makes a broker without jobs. Returns NULL and sets *err if the cache cannot be used. `host` (with
 * its home) and `policy` are borrowed until broker_free.
 */
struct broker *broker_new(const struct session_host *host, const struct policyfile *policy,
			  struct err *err) MUST_CHECK;
/* Ends every job and calls each `done` at once. The launcher must run. `broker` may be NULL. */
void broker_end(struct broker *broker);
/* Frees `broker`, which may be NULL. Must be called after broker_end and launcher_free. */
void broker_free(struct broker *broker);

/*
 * Reports the result of a job, borrowed for the call: {"packages": [{"name", "version",
 * "modules"}], "arrived", "unchanged", "replaced", "removed", "present": [{"name", "version"}],
 * "left_out": [NAME], "notes": [SENTENCE], "bytes": N, "ms": N, "cached": BOOL, "dry": true}.
 * "packages" are those that the session has now. "arrived" are those of them that it did not have
 * in this version, "unchanged" those that it had, "replaced" what it had in another version,
 * "present" what its interpreter had already. "removed", which may be missing, is what it does not
 * have any more. "left_out" are modules of packages that would hide Python's own, "notes" facts
 * about the choice. "bytes", the size of the files, may be missing. "dry" is there for "--dry-run"
 * alone, and "packages" would be installed. On failure `result` is NULL and `problem` explains why,
 * in sentences.
 */
typedef void install_done_fn(void *data, const json_t *result, const char *problem);

/* A finished installation. Everything is borrowed for the call. */
struct broker_event {
	const char *folder; /* workspace_name of the session */
	const struct language *language;
	const json_t *asked;
	const char *from; /* the indexes, in the form of broker_list */
	const json_t
		*result; /* in the form of install_done_fn, with "files": [{"file", "sha256"}] */
	const char *problem; /* set if `result` is NULL */
	uint64_t cell; /* the cell whose code asked for it; 0 if a client asked for it, or if no
			  caller waits */
};

typedef void broker_over_fn(void *data, const struct broker_event *event);
/*
 * Sets the callback that is called once per finished installation, whether or not a caller still
 * waits for it.
 */
void broker_on_over(struct broker *broker, broker_over_fn *over, void *data);

/* A request for packages. Borrowed for the call. */
struct install_request {
	const struct language *language;
	const json_t
		*packages;    /* an array of strings in the notation of the language's installer */
	const json_t *locked; /* JavaScript only: strings, the lines of a lock file in the form of
				 node.cjs; may be NULL */
	uint64_t cell;        /* whose code asks; 0: a client */
};

/*
 * Checks a list of requested packages. Returns -1 and sets *err: ERR_INVALID for none, ERR_LIMIT
 * for too many or too long ones.
 */
int broker_check_packages(const json_t *packages, struct err *err) MUST_CHECK;
/*
 * Starts an installation, or joins one with the same request. `done` is called once, from the loop,
 * or by broker_end and broker_end_folder. The returned object is valid until then, or until
 * broker_forget or broker_cancel. Returns NULL and sets *err if the request itself is invalid, or
 * (ERR_LIMIT) if the session has BROKER_JOBS_MAX other jobs.
 */
struct install *broker_install(struct broker *broker, const struct session *session,
			       const struct install_request *request, install_done_fn *done,
			       void *data, struct err *err) MUST_CHECK;
/*
 * Removes the requests for these packages, which are names without versions. A package that others
 * need stays. The result has "removed", rows of what the session does not have any more. Returns
 * NULL and sets *err: ERR_NOT_FOUND if none of them was requested. Otherwise as broker_install.
 */
struct install *broker_remove(struct broker *broker, const struct session *session,
			      const struct install_request *request, install_done_fn *done,
			      void *data, struct err *err) MUST_CHECK;
/*
 * Checks that the installer of this language works and that its indexes are reachable. `done` gets
 * {"tool": "pip 24.0", "from": as in broker_list}, or the reason and what to do.
 */
struct install *broker_check(struct broker *broker, const struct language *language,
			     install_done_fn *done, void *data);
/* Returns how far the installation is: "installing NAME: 11.2 of 12.9 MB". The caller frees it. */
char *broker_progress(const struct install *install);
/*
 * Returns broker_progress of an installation that only code of this session waits for, or NULL if
 * there is none. `broker` may be NULL.
 */
char *broker_code_progress(const struct broker *broker, const struct session *session);
/* Drops the caller's `done`. The installation continues. `install` may be NULL. */
void broker_forget(struct install *install);
/* Drops the caller's `done`, and ends the installation unless another caller waits for it. */
void broker_cancel(struct install *install);
/* Returns true if all of these were installed for this session before, in the same notation. */
bool broker_has(struct broker *broker, const struct session *session,
		const struct language *language, const json_t *packages);
/*
 * Returns what was installed for this session: [{"name", "version", "language", "file", "from"}],
 * where `from` are the hosts and folders of the indexes. A new reference.
 */
json_t *broker_list(struct broker *broker, const struct session *session);
/*
 * Ends the jobs of a session that ends, given by its folder (workspace_name), and forgets its
 * packages. Calls each `done` at once. `broker` may be NULL.
 */
void broker_end_folder(struct broker *broker, const char *folder);

#endif
