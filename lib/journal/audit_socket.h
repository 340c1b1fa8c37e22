/* SPDX-License-Identifier: MIT */
/*
 * audit_socket.h - a line of the audit to the system's log, as a datagram.
 *
 * "syslog:" sends it as syslog(3) does, to /dev/log; "journald:" by journald's own protocol. Either
 * takes the path of another socket behind the colon. The libraries of both tell no failure, so none
 * is used. A socket that takes nothing for a second is one that cannot be written.
 */
#ifndef JOURNAL_AUDIT_SOCKET_H
#define JOURNAL_AUDIT_SOCKET_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

enum {
	AUDIT_SYSLOG_CODE = 4096, /* bytes of code in a line; its SHA-256 stands for the rest */
	AUDIT_SYSLOG_LINE = 8000, /* servers take 8 KB; members are left out beyond, and named */
};

bool audit_socket_is(const char *target);
/* Is there somebody to send to? Sends nothing. */
int audit_socket_check(const char *target, struct err *err) MUST_CHECK;
int audit_socket_send(const char *target, const json_t *line, struct err *err) MUST_CHECK;

#endif
