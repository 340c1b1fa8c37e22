/* SPDX-License-Identifier: MIT */
/*
 * passed.h - what code finds in its environment because the person passes it: PTYCELL_ENV_NAME and
 * PTYCELL_SECRET_NAME. Nothing else of the server's environment gets there but TZ.
 */
#ifndef CONFIG_USER_ENV_H
#define CONFIG_USER_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define USER_ENV_PREFIX "PTYCELL_ENV_"
#define USER_ENV_SECRET_PREFIX "PTYCELL_SECRET_"

enum { USER_ENV_BYTES_MAX = 96 << 10 /* names and values; one alone is less than execve takes */ };

struct user_env_variable {
	char *name;
	char *value;
	bool secret;
};

/* Zero-initialised. */
struct user_env {
	struct user_env_variable *items;
	size_t count;
	size_t bytes;
};

void user_env_release(struct user_env *passed);
/*
 * True when `variable` is one of them: it is taken then, in place of an earlier one. An empty value
 * is as good as none. What cannot be passed is told to `notices`, a line each. A name that is
 * passed as a secret stays one.
 */
bool user_env_take(struct user_env *passed, const char *variable, const char *value,
		   struct buf *notices);

#endif
