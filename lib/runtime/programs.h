/* SPDX-License-Identifier: MIT */
/*
 * programs.h - the programs of a session that ask the server for packages: pip, uv, npm and others.
 *
 * They are files in the folder `ask` of the session's packages (session/asking.h). Its folder
 * PROGRAMS_BIN comes first on the session's PATH, and PROGRAMS_MODULES, which has a module `pip`
 * that does the same for `python -m pip`, behind the packages on Python's path. R reads
 * PROGRAMS_R_PROFILE when it starts, for install.packages() outside cells.
 */
#ifndef RUNTIME_PROGRAMS_H
#define RUNTIME_PROGRAMS_H

#include "base/err.h"

#define PROGRAMS_BIN "bin"
#define PROGRAMS_MODULES "modules"
#define PROGRAMS_R_PROFILE "profile.R"

/* Paths as the session sees them. */
struct programs_spec {
	const char *data;   /* the session's working folder */
	const char *python; /* the interpreter that runs pip; NULL: there is none */
	const char *node;   /* the one that runs npm; NULL: there is none */
};

/* Writes the programs into the folder, in the place of earlier ones. Returns -1 and sets *err. */
int programs_write(int folder_fd, const struct programs_spec *spec, struct err *err) MUST_CHECK;

#endif
