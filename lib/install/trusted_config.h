/* SPDX-License-Identifier: MIT */
/*
 * personal.h - what the person's own configuration of pip and npm is read from, or leads to.
 *
 * It chooses which hosts installers reach, and which files and folders they get, so it counts only
 * where sessions cannot change it: neither it nor a link that leads to it lies in a share with :rw.
 */
#ifndef INSTALL_TRUSTED_CONFIG_H
#define INSTALL_TRUSTED_CONFIG_H

#include <stdbool.h>

struct shares;

/* False for what is to be passed over; the log says so. NULL has no shares. */
bool trusted_config_holds(const struct shares *shares, const char *path);

#endif
