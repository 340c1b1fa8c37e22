/* SPDX-License-Identifier: MIT */
/*
 * runtimes.h - folders outside the system's own that an interpreter needs, found without running
 * it.
 *
 * A session sees /usr and little else, so an interpreter of pyenv, nvm, conda or a virtual
 * environment brings its own folder along, read-only. One that would bring the person's files with
 * it is refused: a folder at or above the home folder, the current one or a share.
 */
#ifndef CONFINEMENT_RUNTIME_DIRS_H
#define CONFINEMENT_RUNTIME_DIRS_H

#include <stddef.h>

#include "base/err.h"
#include "sandbox/policy.h"

struct shares;

struct runtime_dirs {
	char *paths[POLICY_RUNTIMES_MAX]; /* none lies in another */
	size_t count;
};

/* What no interpreter may bring along. Everything is borrowed; NULL leaves one out. */
struct runtime_dirs_bounds {
	const char *home; /* the person's */
	const char *cwd;  /* of the server */
	const char *sessions;
	const struct shares *shares;
};

/*
 * Adds what the program `path` (absolute) needs. Returns the path by which it is to be started, a
 * string the caller frees: links are resolved but in a virtual environment, which is told by where
 * its program seems to lie. NULL: ERR_NOT_FOUND, ERR_DENIED, ERR_LIMIT (too many folders).
 */
char *runtime_dirs_add(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
		       const char *path, struct err *err) MUST_CHECK;
void runtime_dirs_release(struct runtime_dirs *runtimes);
#define cleanup_runtimes __attribute__((cleanup(runtime_dirs_release)))

#endif
