/* SPDX-License-Identifier: MIT */
/* program.h - the programs that install, which travel in the binary, one a language. */
#ifndef INSTALL_PROGRAM_H
#define INSTALL_PROGRAM_H

#include <stddef.h>

enum { PROGRAM_ARGUMENTS_MAX = 4 };

/* What the interpreter is started with, after its path; NULL: nothing installs for this language.
 */
const char *const *program_arguments(const char *language);

#endif
