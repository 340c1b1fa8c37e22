/* SPDX-License-Identifier: MIT */
/* help.h - what ptycell says about itself. */
#ifndef SERVER_HELP_H
#define SERVER_HELP_H

#include "config/settings.h"

/* On stdout. */
void help_print(void);
void help_version(void);
/* For somebody who typed `ptycell` on a terminal, on stderr: what it is waiting for. */
void help_on_terminal(const struct settings *settings);

#endif
