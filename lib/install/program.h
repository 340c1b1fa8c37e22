/* SPDX-License-Identifier: MIT */
/* program.h - the programs that install, which travel in the binary, one a language. */
#ifndef INSTALL_PROGRAM_H
#define INSTALL_PROGRAM_H

#include <stddef.h>

#include "proc/interpreter.h"

struct program {
	const char *language;
	const char *const *arguments; /* after the interpreter's path; NULL-terminated */
	const char *variable;         /* "NAME=value" that it needs; or NULL */
	/* By which the order comes and the answer goes, as in interpreter_spec. */
	const struct plan_descriptor *descriptors;
	size_t descriptor_count;
};

/* NULL: nothing installs for this language. */
const struct program *program_find(const char *language);

#endif
