/* SPDX-License-Identifier: MIT */
/* serve.h - runs the server: MCP on stdin and stdout until the host closes them. */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "config/settings.h"

struct policyfile;

/*
 * Serves until the host closes `in_fd` or a signal ends the process. Borrows both arguments.
 * Returns the exit code.
 */
int serve_run(const struct settings *settings, const struct policyfile *policy, int in_fd,
	      int out_fd);

#endif
