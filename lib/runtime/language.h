/* SPDX-License-Identifier: MIT */
/*
 * language.h - the table of languages: a row of data plus a driver each.
 *
 * Interpreters are found without running them: PTYCELL_PYTHON and the like, VIRTUAL_ENV, then
 * PATH; version managers' shims are resolved to the real binary (a pyenv shim costs 100 ms a
 * start). The version is told by the driver's `ready` frame, from inside.
 */
#ifndef RUNTIME_LANGUAGE_H
#define RUNTIME_LANGUAGE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct language {
	const char *name;            /* "python" */
	const char *const *aliases;  /* NULL-terminated, without the name */
	const char *env_override;    /* "PTYCELL_PYTHON" */
	const char *const *commands; /* looked for on PATH, in this order; NULL-terminated */
	const char *install_hint;    /* "apt install python3" */
	/* Appends what is sent first on the control channel, before `hello`. */
	void (*boot)(struct buf *out);
	/* argv after the interpreter's path; NULL-terminated, static. */
	const char *const *(*arguments)(void);
	/* "NAME=value" added to the interpreter's environment; NULL-terminated. */
	const char *const *environment;
};

struct interpreter_path {
	char *path;         /* absolute */
	const char *reason; /* "PTYCELL_PYTHON", "VIRTUAL_ENV", "PATH", "pyenv" ...; static */
};

/* Case-insensitive name or alias; NULL when unknown. */
const struct language *language_find(const char *name);
/* Row `index`, NULL past the end. */
const struct language *language_at(size_t index);
/*
 * Finds the interpreter in `env` (as environ(7)): what env_override names, and then nothing
 * else; the virtual environment's; the first on PATH, where relative entries do not count and a
 * shim that leads nowhere is passed over. ERR_NOT_FOUND says how to get one. On success
 * interpreter_path_release() frees it. `reason` is the variable or version manager that told.
 */
int language_locate(const struct language *language, char *const env[],
		    struct interpreter_path *ret_path, struct err *err) MUST_CHECK;
void interpreter_path_release(struct interpreter_path *path);

#endif
