/* SPDX-License-Identifier: MIT */
/*
 * host_list.h - a list of hosts that may be reached, as a user writes it.
 *
 * Entries are separated by commas or blanks: `host`, `host:port`, `*.suffix` (everything below it,
 * not the name itself). `!` before an entry forbids, which wins in any order. An entry without a
 * port allows 443 and 80, and forbids every port. A list without an allowing entry allows nothing.
 * It never changes after it was made.
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

/*
 * Returns the list; the caller frees it. Returns NULL and sets ERR_INVALID, which names the entry
 * by its number and its mistake.
 */
struct host_list *host_list_parse(const char *text, struct err *err) MUST_CHECK;
/* Frees it. May be NULL. */
void host_list_free(struct host_list *hosts);
/* Returns the list in one form, separated by commas. The caller frees the result. */
char *host_list_write(const struct host_list *hosts);
/* Returns whether no entry allows anything. */
bool host_list_empty(const struct host_list *hosts);
/* Returns whether the host may be reached, or why not. `to` must be canonical. */
enum host_list_verdict host_list_check(const struct host_list *hosts, const struct host_port *to);
/* Collects the ports that some entry allows, each once. Returns their number, at most `max`. */
size_t host_list_ports(const struct host_list *hosts, uint16_t *ret_ports, size_t max);

#endif
