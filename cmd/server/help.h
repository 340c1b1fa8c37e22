/* SPDX-License-Identifier: MIT */
/* help.h - the texts of `ptycell --help`, `ptycell --version` and of a start on a terminal. */
#ifndef SERVER_HELP_H
#define SERVER_HELP_H

#include "config/settings.h"

/* Prints to stdout. */
void help_print(void);
void help_version(void);
/*
 * Prints to stderr, for users who typed `ptycell` on a terminal, that the server waits for a
 * client.
 */
void help_on_terminal(const struct settings *settings);

#endif
