/* SPDX-License-Identifier: MIT */
/*
 * locate.h - where on this machine a language's interpreter is, without running anything.
 *
 * A version manager's shim is a small script in <root>/shims. It looks up the version and starts
 *   <root>/versions/VERSION/bin/COMMAND          pyenv, nodenv
 *   <root>/installs/TOOL/VERSION/bin/COMMAND     asdf, mise
 *   <root>/tools/image/node/VERSION/bin/node     volta, whose shims are in <root>/bin
 * nvm and fnm put real folders on PATH. The version is that of the environment, else that of the
 * user's global file. Version files of project folders do not count: sessions do not run in them.
 */
#ifndef RUNTIME_LOCATE_H
#define RUNTIME_LOCATE_H

#include "base/err.h"

struct interpreter_path;
struct language;

/* Finds the interpreter of a language. The contract is that of language_locate(). */
int locate_interpreter(const struct language *language, char *const env[],
		       struct interpreter_path *ret_path, struct err *err) MUST_CHECK;

#endif
