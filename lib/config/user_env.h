/* SPDX-License-Identifier: MIT */
/*
 * user_env.h - the user environment: variables that the user passes to session code.
 *
 * They are PTYCELL_ENV_NAME and PTYCELL_SECRET_NAME. Only TZ reaches session code from the server's
 * own environment.
 */
#ifndef CONFIG_USER_ENV_H
#define CONFIG_USER_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define USER_ENV_PREFIX "PTYCELL_ENV_"
#define USER_ENV_SECRET_PREFIX "PTYCELL_SECRET_"

enum {
	USER_ENV_BYTES_MAX = 96 << 10 /* names and values; one alone is less than execve accepts */
};

struct user_env_variable {
	char *name;
	char *value;
	bool secret;
};

/* A zeroed struct is an empty environment. */
struct user_env {
	struct user_env_variable *items;
	size_t count;
	size_t bytes;
};

void user_env_release(struct user_env *user_env);
/*
 * Takes `variable` if it is one of them; it replaces an earlier one. Returns false if it is not. An
 * empty value counts as unset. For a name or value that cannot be passed, a line is appended to
 * `notices`. A name once passed as a secret stays secret.
 */
bool user_env_take(struct user_env *user_env, const char *variable, const char *value,
		   struct buf *notices);

#endif
