/* SPDX-License-Identifier: MIT */
/*
 * hello.h - the server name in the first message of a TLS client (RFC 8446 4.1.2, RFC 6066 3).
 *
 * Strict: one ClientHello, in one or more handshake records, with exactly one host_name.
 */
#ifndef NET_CLIENT_HELLO_H
#define NET_CLIENT_HELLO_H

#include <stddef.h>

#include "base/err.h"
#include "net/host.h"

/* Nothing that programs send is near it; it bounds what a client may make us hold. */
enum { CLIENT_HELLO_MAX = 16384 };

/*
 * Looks at the first `len` bytes from a client. 1: `ret_host` is the name; 0: more bytes are
 * needed; -1: ERR_INVALID when this is no TLS or has no usable name, ERR_LIMIT past
 * CLIENT_HELLO_MAX.
 */
int client_hello_read_name(const void *data, size_t len, char ret_host[HOST_MAX + 1],
			   struct err *err) MUST_CHECK;

#endif
