/* SPDX-License-Identifier: MIT */
/*
 * audit_socket.h - sends a line of the audit log to the system's log, as a datagram.
 *
 * "syslog:" sends it as syslog(3) does, to /dev/log; "journald:" uses journald's native protocol.
 * Both accept the path of another socket after the colon. The libraries of both report no failure,
 * so they are not used. A socket that accepts nothing for a second counts as failed.
 */
#ifndef JOURNAL_AUDIT_SOCKET_H
#define JOURNAL_AUDIT_SOCKET_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

enum {
	AUDIT_SYSLOG_CODE = 4096, /* bytes of code in a line; its SHA-256 replaces the rest */
	AUDIT_SYSLOG_LINE = 8000, /* servers accept 8 KB; more members are left out, and named */
};

bool audit_socket_is(const char *target);
/* Checks if the socket accepts connections. Sends nothing. Returns -1 and sets *err. */
int audit_socket_check(const char *target, struct err *err) MUST_CHECK;
int audit_socket_send(const char *target, const json_t *line, struct err *err) MUST_CHECK;

#endif
