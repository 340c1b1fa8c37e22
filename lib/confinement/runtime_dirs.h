/* SPDX-License-Identifier: MIT */
/*
 * runtime_dirs.h - folders outside /usr that an interpreter needs, found without running it.
 *
 * A session sees /usr and little else. An interpreter of pyenv, nvm, conda or a virtual environment
 * therefore brings its own folder along, read-only. An interpreter that would expose the user's
 * files is refused: one whose folder is at or above the home folder, the current folder or a share.
 */
#ifndef CONFINEMENT_RUNTIME_DIRS_H
#define CONFINEMENT_RUNTIME_DIRS_H

#include <stddef.h>

#include "base/err.h"
#include "sandbox/policy.h"

struct shares;

struct runtime_dirs {
	char *paths[POLICY_RUNTIMES_MAX]; /* none is within another */
	size_t count;
};

/* Folders that no interpreter may bring along. Everything is borrowed; NULL leaves one out. */
struct runtime_dirs_bounds {
	const char *home; /* the user's */
	const char *cwd;  /* of the server */
	const char *sessions;
	const struct shares *shares;
};

/*
 * Adds the folders that the program `path` (absolute) needs. Returns the path by which it must be
 * started; the caller frees it. Links are resolved, except in a virtual environment, which a
 * program recognises by its own path. Returns NULL and sets *err: ERR_NOT_FOUND, ERR_DENIED,
 * ERR_LIMIT (too many folders).
 */
char *runtime_dirs_add(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
		       const char *path, struct err *err) MUST_CHECK;
void runtime_dirs_release(struct runtime_dirs *runtimes);
#define cleanup_runtimes __attribute__((cleanup(runtime_dirs_release)))

#endif
