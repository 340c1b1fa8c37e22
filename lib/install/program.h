/* SPDX-License-Identifier: MIT */
/* program.h - the programs that install packages, one per language, embedded in the binary. */
#ifndef INSTALL_PROGRAM_H
#define INSTALL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "proc/interpreter.h"

struct program {
	const char *language;
	const char *const *arguments; /* after the interpreter's path; NULL-terminated */
	const char *variable;         /* "NAME=value" that it needs; may be NULL */
	/* The descriptors of the request and the reply, as in interpreter_spec. */
	const struct plan_descriptor *descriptors;
	size_t descriptor_count;
	bool ends_itself; /* without an index, and may go on with what is there */
	bool resolves; /* it has the step "resolve", which names the files that "fetch" downloads */
};

/* Returns the installer of the language, static; NULL if it has none. */
const struct program *program_find(const char *language);

#endif
