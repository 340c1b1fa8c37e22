/* SPDX-License-Identifier: MIT */
/*
 * trusted_config.h - decides if a file of the user's pip or npm configuration can be trusted.
 *
 * The configuration chooses the hosts that installers reach, and the files and folders that they
 * get. It counts only if sessions cannot change it: neither a file nor a link that leads to it is
 * in a share with :rw.
 */
#ifndef INSTALL_TRUSTED_CONFIG_H
#define INSTALL_TRUSTED_CONFIG_H

#include <stdbool.h>

struct shares;

/* Returns false, and logs it, if the path must be ignored. `shares` may be NULL: no shares. */
bool trusted_config_holds(const struct shares *shares, const char *path);

#endif
