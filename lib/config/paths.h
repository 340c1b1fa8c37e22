/* SPDX-License-Identifier: MIT */
/* places.h - the folders of a person, also where a host starts us with hardly any environment. */
#ifndef CONFIG_PATHS_H
#define CONFIG_PATHS_H

#include <sys/types.h>

/* The value of `name`, NULL when unset or empty; borrowed from `env`. */
const char *paths_getenv(char *const env[], const char *name);
/* HOME when it is absolute, else the home folder of the user's account, else NULL. Caller frees. */
char *paths_user_home(char *const env[], uid_t uid);
/* Where live sessions' files go when PTYCELL_HOME says nothing. The caller frees it. */
char *paths_cache(char *const env[], uid_t uid);
/* `path` with a leading ~ replaced; NULL when that is not absolute. The caller frees it. */
char *paths_absolute(char *const env[], uid_t uid, const char *path);
/* The same, also behind one of `words` that end with a colon, or such a word alone. NULL: none. */
char *paths_target(char *const env[], uid_t uid, const char *text, const char *const *words);

#endif
