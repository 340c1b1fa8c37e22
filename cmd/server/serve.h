/* SPDX-License-Identifier: MIT */
/* serve.h - runs the server: MCP on stdin and stdout until the host closes them. */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "config/settings.h"
#include "console/likeness.h"
#include "control/handover.h"

struct policyfile;

/* A server whose sessions may outlive the host, and which then serves the next one. */
struct serve_linger {
	char likeness[LIKENESS_LEN + 1];
	int socket_fd; /* owned: to the front of the first host (control/handover.h) */
};

/*
 * Serves on stdin and stdout among `fds` until the host closes them or a signal ends the process.
 * With `linger`, which may be NULL, sessions go on for settings->linger after that. Borrows the
 * arguments, but with `linger` the descriptors are closed. Returns the exit code.
 */
int serve_run(const struct settings *settings, const struct policyfile *policy,
	      const struct serve_linger *linger, const int fds[HANDOVER_FDS]);

#endif
