/* SPDX-License-Identifier: MIT */
/*
 * front.h - the process that a host starts, where its sessions are to outlive the host.
 *
 * The server is another process, in a session of its own, so that no signal to the host's processes
 * reaches it. The front gives it the host's stdin, stdout and stderr and waits for the end. Its own
 * end, however it comes, is for the server the end of the host.
 */
#ifndef SERVER_FRONT_H
#define SERVER_FRONT_H

#include "control/handover.h"

struct policyfile;
struct settings;

/*
 * Hands over to a server that lingers and is alike (console/likeness.h), or else starts one. All
 * arguments are borrowed, but stdin and stdout are closed; `argv` is main's. Returns the exit code,
 * in the front and in the process of the server.
 */
int front_run(const struct settings *settings, const struct policyfile *policy, char *const argv[],
	      int fds[HANDOVER_FDS]);

#endif
