/* SPDX-License-Identifier: MIT */
/* serve.h - the server itself: MCP on stdin and stdout until the host goes. */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "config/settings.h"

struct policyfile;

/* Returns the exit code. */
int serve_run(const struct settings *settings, const struct policyfile *policy, int in_fd,
	      int out_fd);

#endif
