/* SPDX-License-Identifier: MIT */
/*
 * client.h - a command's end of a server's socket: sends one request, reads the lines of the reply.
 * It waits, at most until a deadline of clock_ms().
 */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { CLIENT_LINE_MAX = 64 << 20 };

/* A connection. Zeroed but for `fd`, which is -1 without one. */
struct client {
	int fd;
	pid_t pid;     /* of the server */
	struct buf in; /* bytes of lines that were not taken */
};

/*
 * Connects to the socket `name` of the folder (sockets.h) and sends the request, without waiting.
 * Adds the protocol's version to `request`. Returns -1 and sets *err; the pid is set if it is
 * known.
 */
int client_open(struct client *client, int folder_fd, const char *name, json_t *request,
		struct err *err) MUST_CHECK;
void client_close(struct client *client);
#define cleanup_client __attribute__((cleanup(client_close)))
/* Returns whether client_read returns a line without waiting. */
bool client_has_line(const struct client *client);
/*
 * Returns the next line of the reply, a new reference. Returns NULL and sets *err: ERR_TIMEOUT at
 * the deadline, ERR_CANCELLED at the end of the reply, ERR_LIMIT or ERR_INVALID for a line that no
 * server sends; of a first line that is an error, its code and text.
 */
json_t *client_read(struct client *client, uint64_t deadline_ms, struct err *err) MUST_CHECK;

#endif
