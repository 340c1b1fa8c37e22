/* SPDX-License-Identifier: MIT */
/*
 * handover.h - gives the stdin, stdout and stderr of a host to a server, over a connected socket.
 *
 * The process that the host started is the front. Its end of the socket stays open for as long as
 * its host is served.
 *
 * The front sends the three descriptors in one message. The server sends HANDOVER_TAKEN once it has
 * them; until then the front may give them to another server. When the client's time is over, the
 * server sends the exit code as one byte and closes the socket.
 */
#ifndef CONTROL_HANDOVER_H
#define CONTROL_HANDOVER_H

#include "base/err.h"

/* The descriptors in the message, in this order. */
enum handover_fd { HANDOVER_IN, HANDOVER_OUT, HANDOVER_ERR, HANDOVER_FDS };

enum { HANDOVER_TAKEN = 't' };

/* Sends copies of the descriptors without waiting. Returns -1 and sets *err. */
int handover_send(int socket_fd, const int fds[HANDOVER_FDS], struct err *err) MUST_CHECK;
/*
 * Receives the descriptors without waiting; the caller owns them. Returns -1 and sets *err:
 * ERR_BUSY if they have not come yet, ERR_CANCELLED if the front is gone, ERR_INVALID for a message
 * that no front sends.
 */
int handover_receive(int socket_fd, int ret_fds[HANDOVER_FDS], struct err *err) MUST_CHECK;
/* Sends one byte to the front without waiting. A front that is gone misses nothing. */
void handover_send_byte(int socket_fd, unsigned char byte);

#endif
