/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - a list of hosts that may be reached, as a person writes it.
 *
 * Entries, separated by commas or blanks: `host`, `host:port`, `*.suffix` (whatever is below it,
 * not itself), each also with `!` in front, which forbids; what is forbidden wins whatever the
 * order. Without a port an entry allows 443 and 80, and forbids every port. A list that allows
 * nothing allows nothing. Never changes after it was made.
 */
#ifndef NET_HOSTS_H
#define NET_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/host.h"

enum { HOSTS_MAX = 256 }; /* entries */

enum hosts_verdict {
	HOSTS_ALLOWED,
	HOSTS_NOT_LISTED,
	HOSTS_OTHER_PORT, /* listed, but not with this port */
	HOSTS_FORBIDDEN,
};

struct hosts;

/* NULL: ERR_INVALID names the entry by its place and says what is wrong with it. */
struct hosts *hosts_parse(const char *text, struct err *err) MUST_CHECK;
/* NULL is allowed. */
void hosts_free(struct hosts *hosts);
/* The list in one form, with commas between. The caller frees it. */
char *hosts_write(const struct hosts *hosts);
/* True when no entry allows anything. */
bool hosts_empty(const struct hosts *hosts);
enum hosts_verdict hosts_check(const struct hosts *hosts, const struct host_port *to);
/* The ports that some entry allows, each once: how many, at most `max`. */
size_t hosts_ports(const struct hosts *hosts, uint16_t *ret_ports, size_t max);

#endif
