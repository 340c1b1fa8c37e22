/* SPDX-License-Identifier: MIT */
/*
 * locate.h - where on this machine a language's interpreter is, without running anything.
 *
 * A version manager's shim is a small script in <root>/shims that looks up the version and
 * starts <root>/versions/VERSION/bin/COMMAND (pyenv, nodenv),
 * <root>/installs/TOOL/VERSION/bin/COMMAND (asdf, mise) or <root>/tools/image/node/VERSION/bin/node
 * (volta, whose shims lie in <root>/bin). nvm and fnm put real folders on PATH. The version is the
 * one that holds everywhere: of the environment, else the user's global file; folders' own files do
 * not count, for sessions do not run in them.
 */
#ifndef RUNTIME_LOCATE_H
#define RUNTIME_LOCATE_H

#include "base/err.h"

struct interpreter_path;
struct language;

/* As language_locate() says. */
int locate_interpreter(const struct language *language, char *const env[],
		       struct interpreter_path *ret_path, struct err *err) MUST_CHECK;

#endif
