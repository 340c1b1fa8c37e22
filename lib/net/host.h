/* SPDX-License-Identifier: MIT */
/*
 * host.h - names of hosts in one form, which is matched, resolved and logged.
 *
 * The canonical form has labels of letters, digits and inner hyphens (RFC 1123) in lower case,
 * separated by single dots, without the dot that may end a name. No notation of an address is
 * accepted that a resolver may read as one (the WHATWG URL rule: the last label is a number).
 * Unicode is not accepted: such names come as xn-- labels. Messages never repeat a refused name.
 */
#ifndef NET_HOST_H
#define NET_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { HOST_MAX = 253, HOST_LABEL_MAX = 63 };

struct host_port {
	char host[HOST_MAX + 1]; /* canonical */
	uint16_t port;
};

/*
 * Returns 0 and sets ret_host. Returns -1 and sets ERR_INVALID, which says what a name must look
 * like. `text` may hold any byte.
 */
int host_canonicalise(const char *text, size_t len, char ret_host[HOST_MAX + 1],
		      struct err *err) MUST_CHECK;
/* Reads 1 to 65535 in decimal, without sign or leading zero. Returns -1 and sets ERR_INVALID. */
int host_parse_port(const char *text, size_t len, uint16_t *ret_port, struct err *err) MUST_CHECK;
/*
 * Reads "host:port", and "host" alone if `fallback_port` is not 0. Returns -1 and sets ERR_INVALID.
 */
int host_parse_authority(const char *text, size_t len, uint16_t fallback_port,
			 struct host_port *ret_authority, struct err *err) MUST_CHECK;
/*
 * Returns whether canonical `host` is below canonical `suffix`, at a border between labels. Equal
 * names are not.
 */
bool host_is_below(const char *host, const char *suffix);

#endif
