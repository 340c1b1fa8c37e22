/* SPDX-License-Identifier: MIT */
/*
 * passed.h - what code finds in its environment because the person passes it: PTYCELL_ENV_NAME and
 * PTYCELL_SECRET_NAME. Nothing else of the server's environment gets there but TZ.
 */
#ifndef CONFIG_PASSED_H
#define CONFIG_PASSED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PASSED_PREFIX "PTYCELL_ENV_"
#define PASSED_SECRET_PREFIX "PTYCELL_SECRET_"

enum { PASSED_BYTES_MAX = 96 << 10 /* names and values; one alone is less than execve takes */ };

struct passed_variable {
	char *name;
	char *value;
	bool secret;
};

/* Zero-initialised. */
struct passed {
	struct passed_variable *items;
	size_t count;
	size_t bytes;
};

void passed_release(struct passed *passed);
/*
 * True when `variable` is one of them: it is taken then, in place of an earlier one. An empty value
 * is as good as none. What cannot be passed is told to `notices`, a line each. A name that is
 * passed as a secret stays one.
 */
bool passed_take(struct passed *passed, const char *variable, const char *value,
		 struct buf *notices);

#endif
