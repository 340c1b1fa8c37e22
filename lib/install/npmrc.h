/* SPDX-License-Identifier: MIT */
/*
 * npmrc.h - what of the person's npm configuration says where packages come from.
 *
 * npm itself is not run for it. Read are npm_config_registry, the person's .npmrc and npm's global
 * one beside the npm program's folder, in this order: `registry`, `@SCOPE:registry`, `cafile`, and
 * the credentials for hosts ("//HOST/:_authToken"). Values may name variables as ${NAME}.
 * Files that sessions can change are passed over (install/trusted_config.h).
 */
#ifndef INSTALL_NPMRC_H
#define INSTALL_NPMRC_H

#include <jansson.h>

struct shares;

/* An object of strings, perhaps empty. `shares` may be NULL. */
json_t *npmrc_read(char *const *environment, const struct shares *shares);

#endif
