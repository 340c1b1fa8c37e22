/* SPDX-License-Identifier: MIT */
/* paths.h - the user's folders, also where a host starts us with hardly any environment. */
#ifndef CONFIG_PATHS_H
#define CONFIG_PATHS_H

#include <sys/types.h>

/* Returns the value of `name`, NULL if it is unset or empty. Borrowed from `env`. */
const char *paths_getenv(char *const env[], const char *name);
/*
 * Returns HOME if it is absolute, else the home folder of the user's account, else NULL. The caller
 * frees it.
 */
char *paths_user_home(char *const env[], uid_t uid);
/*
 * Returns the folder of sessions without PTYCELL_HOME, where no cleaner of caches looks. The caller
 * frees it.
 */
char *paths_state(char *const env[], uid_t uid);
/* Returns `path` with a leading ~ replaced; NULL if that is not absolute. The caller frees it. */
char *paths_absolute(char *const env[], uid_t uid, const char *path);
/*
 * Returns the path as paths_absolute does. It may follow one of `words` that end with a colon; such
 * a word may also stand alone. Returns NULL for anything else. The caller frees it. `words` may be
 * NULL.
 */
char *paths_target(char *const env[], uid_t uid, const char *text, const char *const *words);

#endif
