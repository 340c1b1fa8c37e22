/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - a list of hosts that may be reached, as a person writes it.
 *
 * Entries, separated by commas or blanks: `host`, `host:port`, `*.suffix` (whatever is below it,
 * not itself), each also with `!` in front, which forbids; what is forbidden wins whatever the
 * order. Without a port an entry allows 443 and 80, and forbids every port. A list that allows
 * nothing allows nothing. Never changes after it was made.
 */
#ifndef NET_HOST_LIST_H
#define NET_HOST_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/host.h"

enum { HOST_LIST_MAX = 256 }; /* entries */

enum host_list_verdict {
	HOST_LIST_ALLOWED,
	HOST_LIST_NOT_LISTED,
	HOST_LIST_OTHER_PORT, /* listed, but not with this port */
	HOST_LIST_FORBIDDEN,
};

struct host_list;

/* NULL: ERR_INVALID names the entry by its place and says what is wrong with it. */
struct host_list *host_list_parse(const char *text, struct err *err) MUST_CHECK;
/* NULL is allowed. */
void host_list_free(struct host_list *hosts);
/* The list in one form, with commas between. The caller frees it. */
char *host_list_write(const struct host_list *hosts);
/* True when no entry allows anything. */
bool host_list_empty(const struct host_list *hosts);
enum host_list_verdict host_list_check(const struct host_list *hosts, const struct host_port *to);
/* The ports that some entry allows, each once: how many, at most `max`. */
size_t host_list_ports(const struct host_list *hosts, uint16_t *ret_ports, size_t max);

#endif
