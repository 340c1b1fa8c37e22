/* SPDX-License-Identifier: MIT */
/*
 * console.h - what a running server does for the commands of its user: `ptycell ps`, `stop` and
 * the rest. control/listener.h has the protocol, README.md the commands.
 */
#ifndef CONSOLE_CONSOLE_H
#define CONSOLE_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/handover.h"

struct console;
struct mcp_server;
struct service;

/* The reports of a console to a server that may stay without a client. From the loop. */
struct console_linger {
	const char *likeness; /* of this server, as likeness_make writes it */
	/*
	 * A front has handed over; `socket_fd` is its connection (control/handover.h). All
	 * descriptors belong to the function. The server does not linger any more.
	 */
	void (*adopt)(void *data, int socket_fd, const int fds[HANDOVER_FDS]);
	/* Returns whether the client is about to go: the server will linger then, or end. */
	bool (*is_leaving)(void *data);
	/*
	 * Drops a client that sends no more, with the calls that still wait, because a front waits.
	 * Must return before the calls end.
	 */
	void (*leave)(void *data);
	/* The user wants the server to end, or it has no session left. It must not end at once. */
	void (*end)(void *data);
	void *data;
};

/*
 * Makes a console, which observes the service. It makes its socket when the service is ready; a
 * failure is only logged. All arguments are borrowed; `linger` is NULL for a server that ends with
 * its client.
 */
struct console *console_new(struct service *service, const struct mcp_server *server,
			    const struct console_linger *linger);
/* Removes the socket. Must precede service_close. May be NULL. */
void console_free(struct console *console);
/* Returns whether commands, and so fronts, reach this server. */
bool console_is_reachable(const struct console *console);
/*
 * Notes that the client sends no more; its calls may still wait. Other servers see that, and get
 * the sessions that they ask for (console_linger.c).
 */
void console_leave(struct console *console);
/*
 * Lets a front take the server over from now on. It is said to end by itself at `until_ms` of
 * clock_ms().
 */
void console_linger(struct console *console, uint64_t until_ms);

#endif
