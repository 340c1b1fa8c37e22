/* SPDX-License-Identifier: MIT */
/*
 * npmrc.h - reads from the user's npm configuration where packages come from.
 *
 * npm itself is not run for it. The first source that has an option wins. The sources are the
 * variable npm_config_registry; the file that npm_config_userconfig names, or else the user's
 * .npmrc; then /usr/etc/npmrc, /usr/local/etc/npmrc and /etc/npmrc. The options are `registry`,
 * `@SCOPE:registry`, `cafile`, and credentials for hosts ("//HOST/:_authToken"). Values may name
 * variables as ${NAME}. Files that sessions can change are ignored (install/trusted_config.h).
 */
#ifndef INSTALL_NPMRC_H
#define INSTALL_NPMRC_H

#include <jansson.h>

struct shares;

/* Returns an object of strings, which may be empty. `shares` may be NULL. The caller frees it. */
json_t *npmrc_read(char *const *environment, const struct shares *shares);

#endif
